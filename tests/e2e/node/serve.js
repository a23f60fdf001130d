// SPDX-License-Identifier: Apache-2.0
// serve.js json-server FILE | couchdb: starts a server from npm on a free loopback port and prints
// the port. The answers are the servers' own.
'use strict';

const starters = {
  'json-server': (file) => {
    const jsonServer = require('json-server');
    const app = jsonServer.create();
    app.use(jsonServer.defaults({ logger: false }));
    app.use(jsonServer.router(file));
    return app;
  },
  couchdb: () => {
    const PouchDB = require('pouchdb-core').plugin(require('pouchdb-adapter-memory'));
    const app = require('express')();
    app.use(require('express-pouchdb')(PouchDB.defaults({ adapter: 'memory' }), {
      mode: 'minimumForPouchDB', inMemoryConfig: true, logPath: '/dev/null',
    }));
    return app;
  },
};

const server = starters[process.argv[2]](process.argv[3]).listen(0, '127.0.0.1', () => {
  console.log(server.address().port);
});
