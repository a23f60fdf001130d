/* SPDX-License-Identifier: Apache-2.0
 *
 * What each observation must lead to. The numbers T1 … are the rows of the list of traps in the
 * specification, P01 … its reported failures; expectations are written by hand from there.
 */
#include "verdict_row.h"

#include "reconciled/base/arena.h"
#include "tap.h"

#define MIN(n) ((n)*60)
#define DAYS(n) ((n)*86400)

/* By key, with an error body of its own; two empty looks over five minutes after five minutes. */
#define BY_KEY                                                                                     \
	"'probes':[{'get':'/customers/{business_key}','found':{'status':'200'},"                   \
	"'absent':{'status':'404','/error':'not_found'},'remote_id':'/id'}],"                      \
	"'latency_window':'5m'"
#define VERSION                                                                                    \
	"'compare':{'version':{'found':'/version','type':'version','is':'op.version'},"            \
	"'email':{'found':'/email','fold':'case','is':'op./expected/email'}}"
#define CUSTOMER "{" BY_KEY "," VERSION "}"
#define CUSTOMER_OP "{'business_key':'c42','version':'7','expected':{'email':'a@example.com'}}"
#define NOT_FOUND "{'error':'not_found'}"

/* A list by our own id, which says itself whether it is whole. */
#define LISTED                                                                                     \
	"'probes':[{'get':'/payments','found':{'status':'200'},'items':'/data',"                   \
	"'where':{'/ref':{'is':'op.operation_id'}},'complete':{'/has_more':'false'}}],"            \
	"'latency_window':'15m','absence':{'confirm':'3','over':'30m'}"
#define AMOUNT                                                                                     \
	"'compare':{'amount':{'found':'/amount','type':'number','is':'op./expected/amount'},"      \
	"'currency':{'found':'/currency','fold':'case','is':'op./expected/currency'}}"
#define STATES                                                                                     \
	"'judge':["                                                                                \
	"{'when':{'/status':['pending','settled']},'class':'waiting'},"                            \
	"{'when':{'/status':'requires_capture','op./expected/capture':'manual'},"                  \
	"'class':'compare'},"                                                                      \
	"{'when':{'/status':'refunded','op.entity_state':['cancelled','refunded']},"               \
	"'class':'not_applicable','why':'refunded on both sides'},"                                \
	"{'when':{'/status':'refunded'},'class':'divergent','why':'refunded_at_target'},"          \
	"{'when':{'/status':'canceled','op.entity_state':'cancelled'},'class':'not_applicable'},"  \
	"{'when':{'/status':'canceled'},'class':'divergent','why':'cancelled_at_target'},"         \
	"{'when':{'/status':['declined','failed']},'class':'divergent','why':'target_rejected'},"  \
	"{'when':{'/status':'succeeded','op.entity_state':'cancelled'},'class':'divergent',"       \
	"'why':'effect_after_cancel'},"                                                            \
	"{'when':{'/status':{'not':['succeeded','requires_capture']}},'class':'ambiguous',"        \
	"'why':'unknown_state'}]"
#define CANCELLED                                                                                  \
	"'on_absent':[{'when':{'op.entity_state':'cancelled'},'class':'not_applicable',"           \
	"'why':'cancelled before any effect'}]"
#define PAYMENT "{" LISTED "," AMOUNT "," STATES "," CANCELLED ",'waiting':{'until':'7d'}}"
#define PAYMENT_OP "{'expected':{'amount':'10.99','currency':'EUR'}}"
#define CANCELLED_OP "{'entity_state':'cancelled','expected':{'amount':'10.99','currency':'EUR'}}"
#define ITEM(fields) "{'has_more':false,'data':[{'ref':'op_00000001'," fields "}]}"
#define PAID "'amount':10.99,'currency':'eur','status':'succeeded'"
#define EMPTY "{'has_more':false,'data':[]}"

/* A bucket: HEAD, with delete markers. */
#define OBJECT                                                                                     \
	"{'probes':[{'head':'/{business_key|path}','found':{'status':'200'},"                      \
	"'gone':[{'status':'404','header.x-delete-marker':'true'},{'status':'410'}],"              \
	"'several':{'status':['300','412']},'absent':{'status':'404'}}],"                          \
	"'latency_window':'1m','absence':{'confirm':'2','over':'2m'},"                             \
	"'on_gone':[{'when':{'op.entity_state':'deleted'},'class':'not_applicable',"               \
	"'why':'document withdrawn'}],"                                                            \
	"'compare':{'etag':{'found':'header.etag','type':'version','order':'opaque',"              \
	"'is':'op./expected/etag'},"                                                               \
	"'size':{'found':'header.content-length','type':'number','is':'op./expected/size'}}}"
#define OBJECT_OP "{'business_key':'docs/a.pdf','expected':{'etag':'e1','size':'12'}}"

#define VERSION_ONLY(outcome)                                                                      \
	"{" BY_KEY ",'compare':{'version':{'found':'/version','type':'version',"                   \
	"'is':'op.version'}},'outcome':{" outcome "}}"
#define VERSION_OP(more) "{'business_key':'c42','version':'9'" more "}"

/* First by the target's id, then by ours. */
#define TWO_PROBES                                                                                 \
	"{'probes':[{'name':'by_id','needs':['remote_id'],'get':'/o/{remote_id}',"                 \
	"'found':{'status':'200'},'absent':{'status':'404','/error':'not_found'}},"                \
	"{'name':'by_key','get':'/k/{operation_id}','found':{'status':'200'},"                     \
	"'absent':{'status':'404','/error':'not_found'}}],"                                        \
	"'compare':{'state':{'found':'/state','one_of':['done']}}}"

/* clang-format off */
static const struct verdict_row rows[] = {
	/* no verdict */
	{ "T1 404 with a page of HTML", CUSTOMER, "{}", CUSTOMER_OP,
	  { { MIN(20), 404, "<html>Not Found</html>" } }, "inconclusive", "http_4xx", "probe" },
	{ "T1 404 with another error body", CUSTOMER, "{}", CUSTOMER_OP,
	  { { MIN(20), 404, "{'error':'no such route'}" } }, "inconclusive", "http_4xx", "probe" },
	{ "T1 a negated test does not recognise a page of HTML",
	  "{'probes':[{'get':'/x/{operation_id}','found':{'status':'200'},"
	  "'absent':{'status':'404','/error':{'not':'denied'}}}],'absence':{'confirm':'1'}," VERSION "}",
	  "{}", CUSTOMER_OP, { { MIN(20), 404, "<html>" } }, "inconclusive", "http_4xx", "probe" },
	{ "T2 the index is missing, not the document",
	  "{'probes':[{'get':'/i/{operation_id}','found':{'status':'200','/found':'true'},"
	  "'absent':{'status':'404','/found':'false'}}],'existence_only':'true'}",
	  "{}", "{}", { { MIN(20), 404, "{'error':{'type':'index_not_found_exception'}}" } },
	  "inconclusive", "http_4xx", "probe" },
	{ "T2 the object is missing while the control is", OBJECT, "{}", OBJECT_OP,
	  { { MIN(20), 404, .control = CONTROL_LOST }, { MIN(40), 404, .control = CONTROL_LOST } },
	  "inconclusive", "control", "control" },
	{ "T3 403 without permission to list", OBJECT, "{}", OBJECT_OP, { { MIN(20), 403 } },
	  "inconclusive", "http_4xx", "probe" },
	{ "T4 403 with nothing remaining", CUSTOMER,
	  "{'throttled':[{'status':'403','header.x-ratelimit-remaining':'0'}]}", CUSTOMER_OP,
	  { { MIN(20), 403, "{}", "x-ratelimit-remaining: 0" } }, "inconclusive", "throttled", "probe" },
	{ "T4 200 and throttled", CUSTOMER, "{'throttled':[{'/errors/*/code':'THROTTLED'}]}", CUSTOMER_OP,
	  { { MIN(20), 200, "{'errors':[{'code':'THROTTLED'}]}" } }, "inconclusive", "throttled", "probe" },
	{ "T5 200 and a fault", CUSTOMER, "{'broken':[{'/Fault':{'present':true}}]}", CUSTOMER_OP,
	  { { MIN(20), 200, "{'Fault':{'code':1}}" } }, "inconclusive", "broken", "probe" },
	{ "T5 200, errors and no data", CUSTOMER, "{'broken':[{'/errors':{'present':true},'/data':null}]}",
	  CUSTOMER_OP, { { MIN(20), 200, "{'errors':[1],'data':null}" } }, "inconclusive", "broken", "probe" },
	{ "T6 more to come behind an empty page", PAYMENT, "{}", PAYMENT_OP,
	  { { MIN(20), 200, "{'has_more':true,'data':[]}" } }, "inconclusive", "incomplete", "probe" },
	{ "T6 nothing says that the list is whole", PAYMENT, "{}", PAYMENT_OP,
	  { { MIN(20), 200, "{'data':[]}" } }, "inconclusive", "incomplete", "probe" },
	{ "T6 one match in a list that is not whole", PAYMENT, "{}", PAYMENT_OP,
	  { { MIN(20), 200, "{'has_more':true,'data':[{'ref':'op_00000001'," PAID "}]}" } },
	  "inconclusive", "incomplete", "probe" },
	{ "T6 a page that is exactly full",
	  "{'probes':[{'get':'/m','found':{'status':'200'},'items':'/m','full':'2',"
	  "'where':{'/ref':{'is':'op.operation_id'}}}],'existence_only':'true'}",
	  "{}", "{}", { { MIN(20), 200, "{'m':[{'ref':'a'},{'ref':'b'}]}" } },
	  "inconclusive", "incomplete", "probe" },
	{ "T6 a batch that is still being processed",
	  "{'probes':[{'get':'/b/{operation_id}','found':{'status':'200','/status':'COMPLETE'}}],"
	  "'existence_only':'true'}",
	  "{}", "{}", { { MIN(20), 200, "{'status':'PROCESSING'}" } }, "inconclusive", "unrecognised", "probe" },
	{ "T7 a list without our item that declares nothing",
	  "{'probes':[{'get':'/m','found':{'status':'200'},'items':'/m',"
	  "'where':{'/ref':{'is':'op.operation_id'}}}],'existence_only':'true'}",
	  "{}", "{}", { { MIN(20), 200, "{'m':[{'ref':'a'}]}" } }, "inconclusive", "incomplete", "probe" },
	{ "T8 the answer describes another object",
	  "{'probes':[{'get':'/s','found':{'status':'200'},'where':{'/ref':{'is':'op.operation_id'}}}],"
	  "'existence_only':'true','absence':{'confirm':'1'}}",
	  "{}", "{}", { { MIN(20), 200, "{'ref':'op_00000002'}" } }, "inconclusive", "incomplete", "probe" },
	{ "T54 500 for our id", CUSTOMER, "{}", CUSTOMER_OP, { { MIN(20), 500, NOT_FOUND } },
	  "inconclusive", "http_5xx", "probe" },

	/* absence is earned */
	{ "T9 empty right after the write", PAYMENT, "{}", PAYMENT_OP, { { 1, 200, EMPTY } },
	  "waiting", "too_early", "absence" },
	{ "T9 the attempt may still land", PAYMENT, "{}",
	  "{'attempt_until':3600,'expected':{'amount':'1','currency':'EUR'}}",
	  { { MIN(70), 200, EMPTY } }, "waiting", "too_early", "absence" },
	{ "T10 three empty answers before the delay", PAYMENT, "{}", PAYMENT_OP,
	  { { 20, 200, EMPTY }, { 40, 200, EMPTY }, { 60, 200, EMPTY } }, "waiting", "too_early", "absence" },
	{ "T10 three empty answers within a minute", PAYMENT, "{}", PAYMENT_OP,
	  { { MIN(20), 200, EMPTY }, { MIN(20) + 20, 200, EMPTY }, { MIN(20) + 40, 200, EMPTY } },
	  "waiting", "absent_unconfirmed", "absence" },
	{ "T10 two of three, over the whole time", PAYMENT, "{}", PAYMENT_OP,
	  { { MIN(15), 200, EMPTY }, { MIN(45), 200, EMPTY } }, "waiting", "absent_unconfirmed", "absence" },
	{ "T11 empty, outage, empty, empty", PAYMENT, "{}", PAYMENT_OP,
	  { { MIN(15), 200, EMPTY }, { MIN(20), .fault = REASON_TIMEOUT }, { MIN(30), 503 },
	    { MIN(40), 200, EMPTY }, { MIN(45), 200, EMPTY } }, "missing", "absent_confirmed", "absence" },
	{ "T11 an outage confirms nothing", PAYMENT, "{}", PAYMENT_OP,
	  { { MIN(15), 200, EMPTY }, { MIN(30), .fault = REASON_REFUSED }, { MIN(45), 200, EMPTY } },
	  "waiting", "absent_unconfirmed", "absence" },
	{ "too early neither counts nor resets; the first that counts is at the end of the window", PAYMENT,
	  "{}", PAYMENT_OP,
	  { { MIN(14), 200, EMPTY }, { MIN(15), 200, EMPTY }, { MIN(30), 200, EMPTY }, { MIN(44), 200, EMPTY } },
	  "waiting", "absent_unconfirmed", "absence" },
	{ "something else in between starts the count anew", PAYMENT, "{}", PAYMENT_OP,
	  { { MIN(15), 200, EMPTY }, { MIN(30), 200, EMPTY },
	    { MIN(35), 200, ITEM("'status':'pending'") }, { MIN(45), 200, EMPTY }, { MIN(60), 200, EMPTY } },
	  "waiting", "absent_unconfirmed", "absence" },
	{ "looks without the control do not count", PAYMENT, "{}", PAYMENT_OP,
	  { { MIN(15), 200, EMPTY, .control = CONTROL_FOUND }, { MIN(30), 200, EMPTY, .control = CONTROL_LOST },
	    { MIN(45), 200, EMPTY, .control = CONTROL_FOUND } }, "waiting", "absent_unconfirmed", "absence" },
	{ "what is found counts without the control", PAYMENT, "{}", PAYMENT_OP,
	  { { MIN(1), 200, ITEM(PAID), .control = CONTROL_LOST } }, "correct", "fields_equal", "compare" },
	{ "T13 beyond what the target remembers",
	  "{" BY_KEY "," VERSION ",'absence':{'horizon':'60d'}}", "{}", CUSTOMER_OP,
	  { { DAYS(61), 404, NOT_FOUND } }, "ambiguous", "beyond_horizon", "absence" },
	{ "T13 an absence earned within the horizon still counts",
	  "{" BY_KEY "," VERSION ",'absence':{'horizon':'60d'}}", "{}", CUSTOMER_OP,
	  { { DAYS(59), 404, NOT_FOUND }, { DAYS(60), 404, NOT_FOUND } }, "missing", "absent_confirmed", "absence" },
	{ "absence proves nothing here", "{" BY_KEY "," VERSION ",'absence':{'proves':'nothing'}}", "{}",
	  CUSTOMER_OP, { { MIN(5), 404, NOT_FOUND }, { MIN(10), 404, NOT_FOUND } },
	  "ambiguous", "absence_proves_nothing", "absence" },
	{ "never started: absent is no verdict", CUSTOMER, "{}", "{'sent':null,'business_key':'c42','version':'7'}",
	  { { MIN(20), 404, NOT_FOUND }, { MIN(60), 404, NOT_FOUND } }, "waiting", "never_sent", "absence" },
	{ "never started: found is confirmed all the same", CUSTOMER, "{}",
	  "{'sent':null,'business_key':'c42','version':'7','expected':{'email':'a@example.com'}}",
	  { { MIN(20), 200, "{'version':7,'email':'a@example.com'}" } }, "correct", "fields_equal", "compare" },
	{ "T16 cancelled here, absent there, confirmed", PAYMENT, "{}", CANCELLED_OP,
	  { { MIN(15), 200, EMPTY }, { MIN(30), 200, EMPTY }, { MIN(45), 200, EMPTY } },
	  "not_applicable", "judged", "on_absent[0]" },
	{ "T17 cancelled here, absent there, not confirmed", PAYMENT, "{}", CANCELLED_OP,
	  { { MIN(15), 200, EMPTY }, { MIN(30), 200, EMPTY } }, "waiting", "absent_unconfirmed", "absence" },

	/* states of the found object */
	{ "T14 410", OBJECT, "{}", OBJECT_OP, { { 1, 410 } }, "divergent", "gone_at_target", "gone" },
	{ "T14 a delete marker", OBJECT, "{}", OBJECT_OP, { { 1, 404, NULL, "x-delete-marker: true" } },
	  "divergent", "gone_at_target", "gone" },
	{ "T14 a delete marker, deleted here too", OBJECT, "{}",
	  "{'business_key':'docs/a.pdf','entity_state':'deleted'}",
	  { { 1, 404, NULL, "x-delete-marker: true" } }, "not_applicable", "judged", "on_gone[0]" },
	{ "T15 cancelled here, succeeded there", PAYMENT, "{}", CANCELLED_OP, { { 1, 200, ITEM(PAID) } },
	  "divergent", "effect_after_cancel", "judge[7]" },
	{ "T18 cancelled there, active here", PAYMENT, "{}", PAYMENT_OP,
	  { { 1, 200, ITEM("'status':'canceled'") } }, "divergent", "cancelled_at_target", "judge[5]" },
	{ "cancelled on both sides", PAYMENT, "{}", CANCELLED_OP, { { 1, 200, ITEM("'status':'canceled'") } },
	  "not_applicable", "judged", "judge[4]" },
	{ "T19 refunded there", PAYMENT, "{}", PAYMENT_OP, { { 1, 200, ITEM("'status':'refunded'") } },
	  "divergent", "refunded_at_target", "judge[3]" },
	{ "T19 refunded there and here", PAYMENT, "{}",
	  "{'entity_state':'refunded'}", { { 1, 200, ITEM("'status':'refunded'") } },
	  "not_applicable", "judged", "judge[2]" },
	{ "T20 declined", PAYMENT, "{}", PAYMENT_OP, { { 1, 200, ITEM("'status':'declined'") } },
	  "divergent", "target_rejected", "judge[6]" },
	{ "T21 the state is right for a manual capture", PAYMENT, "{}",
	  "{'expected':{'amount':'10.99','currency':'EUR','capture':'manual'}}",
	  { { 1, 200, ITEM("'amount':10.99,'currency':'eur','status':'requires_capture'") } },
	  "correct", "fields_equal", "compare" },
	{ "T22 pending within the limit", PAYMENT, "{}", PAYMENT_OP,
	  { { DAYS(7), 200, ITEM("'status':'pending'") } }, "waiting", "judged", "judge[0]" },
	{ "T22 pending beyond the limit", PAYMENT, "{}", PAYMENT_OP,
	  { { DAYS(7) + 1, 200, ITEM("'status':'pending'") } }, "ambiguous", "stuck_at_target", "judge[0]" },
	{ "T22 unfinished beyond the limit",
	  "{'probes':[{'get':'/x/{operation_id}','found':{'status':'200'},'unfinished':{'status':'202'}}],"
	  "'existence_only':'true','waiting':{'until':'1h'}}",
	  "{}", "{}", { { MIN(60), 202 }, { MIN(61), 202 } }, "ambiguous", "stuck_at_target", "unfinished" },
	{ "unfinished within the limit",
	  "{'probes':[{'get':'/x/{operation_id}','found':{'status':'200'},'unfinished':{'status':'202'}}],"
	  "'existence_only':'true','waiting':{'until':'1h'}}",
	  "{}", "{}", { { MIN(60), 202 } }, "waiting", "unfinished_at_target", "unfinished" },
	{ "T23 an unknown state", PAYMENT, "{}", PAYMENT_OP,
	  { { 1, 200, ITEM("'amount':10.99,'currency':'eur','status':'initiated_v2'") } },
	  "ambiguous", "unknown_state", "judge[8]" },
	{ "T24 a state that is final for the other direction", PAYMENT, "{}", PAYMENT_OP,
	  { { 1, 200, ITEM("'amount':10.99,'currency':'eur','status':'settled'") } },
	  "waiting", "judged", "judge[0]" },

	/* several */
	{ "T25 two live objects with our own key", "{" LISTED "," AMOUNT ",'on_several':'divergent'}", "{}", PAYMENT_OP,
	  { { 1, 200, "{'has_more':false,'data':[{'ref':'op_00000001'," PAID "},{'ref':'op_00000001'," PAID "}]}" } },
	  "divergent", "duplicate_effect", "several" },
	{ "T25 two in a list that is not whole are two", "{" LISTED "," AMOUNT ",'on_several':'divergent'}", "{}",
	  PAYMENT_OP,
	  { { 1, 200, "{'has_more':true,'data':[{'ref':'op_00000001'," PAID "},{'ref':'op_00000001'," PAID "}]}" } },
	  "divergent", "duplicate_effect", "several" },
	{ "T26 two objects by a key of the business", PAYMENT, "{}", PAYMENT_OP,
	  { { 1, 200, "{'has_more':false,'data':[{'ref':'op_00000001'," PAID "},{'ref':'op_00000001'," PAID "}]}" } },
	  "ambiguous", "several_at_target", "several" },
	{ "T28 the target says that there are several", OBJECT, "{}", OBJECT_OP, { { 1, 300 } },
	  "ambiguous", "several_at_target", "several" },
	{ "T29 the same reference on another kind of row",
	  "{'probes':[{'get':'/t','found':{'status':'200'},'items':'/t','complete':{'/more':'false'},"
	  "'where':{'/ref':{'is':'op.operation_id'},'/code':{'prefix':'T00'}}}],"
	  "'compare':{'amount':{'found':'/amount','type':'number','is':'op./expected/amount'}}}",
	  "{}", "{'expected':{'amount':'10'}}",
	  { { 1, 200, "{'more':false,'t':[{'ref':'op_00000001','code':'T0006','amount':10},"
		      "{'ref':'op_00000001','code':'T1107','amount':-10}]}" } }, "correct", "fields_equal", "compare" },
	{ "T50 an object in test mode is not our effect",
	  "{'probes':[{'get':'/t','found':{'status':'200'},'items':'/t','complete':{'/more':'false'},"
	  "'where':{'/ref':{'is':'op.operation_id'},'/live':'true'}}],'existence_only':'true',"
	  "'absence':{'confirm':'1'}}",
	  "{}", "{}", { { MIN(20), 200, "{'more':false,'t':[{'ref':'op_00000001','live':false}]}" } },
	  "missing", "absent_confirmed", "absence" },

	/* comparison */
	{ "T30 spelling of numbers and currencies", PAYMENT, "{}", "{'expected':{'amount':'30.0','currency':'USD'}}",
	  { { 1, 200, ITEM("'amount':30.00,'currency':'usd','status':'succeeded'") } },
	  "correct", "fields_equal", "compare" },
	{ "T30 composed and decomposed letters",
	  "{" BY_KEY ",'compare':{'name':{'found':'/name','fold':'nfc','is':'op./expected/name'}}}", "{}",
	  "{'business_key':'c42','expected':{'name':'M\xc3\xbcller'}}",
	  { { 1, 200, "{'name':'Mu\xcc\x88ller'}" } }, "correct", "fields_equal", "compare" },
	{ "T35 10 is newer than 9", VERSION_ONLY(""), "{}", VERSION_OP(""), { { 1, 200, "{'version':'10'}" } },
	  "divergent", "newer", "compare" },
	{ "T36 an older version", VERSION_ONLY(""), "{}", VERSION_OP(""), { { MIN(20), 200, "{'version':8}" } },
	  "divergent", "older", "compare" },
	{ "T36 older is missing with conditional writes, once earned", VERSION_ONLY("'older':'missing'"), "{}",
	  VERSION_OP(""), { { MIN(5), 200, "{'version':8}" }, { MIN(10), 200, "{'version':8}" } },
	  "missing", "older", "outcome" },
	{ "T36 older is not missing at first sight", VERSION_ONLY("'older':'missing'"), "{}", VERSION_OP(""),
	  { { MIN(20), 200, "{'version':8}" } }, "waiting", "absent_unconfirmed", "outcome" },
	{ "T36 nor within the window", VERSION_ONLY("'older':'missing'"), "{}", VERSION_OP(""),
	  { { MIN(4), 200, "{'version':8}" } }, "waiting", "too_early", "outcome" },
	{ "T36 an older copy does not add to an absence", VERSION_ONLY("'older':'missing'"), "{}", VERSION_OP(""),
	  { { MIN(5), 200, "{'version':8}" }, { MIN(10), 404, NOT_FOUND } },
	  "waiting", "absent_unconfirmed", "absence" },
	{ "T36 nor an absence to an older copy", VERSION_ONLY("'older':'missing'"), "{}", VERSION_OP(""),
	  { { MIN(5), 404, NOT_FOUND }, { MIN(10), 200, "{'version':8}" } },
	  "waiting", "absent_unconfirmed", "outcome" },
	{ "T37 newer, and a newer operation of ours", VERSION_ONLY("'newer':'not_applicable'"), "{}",
	  VERSION_OP(",'superseded_by':'op_00000002'"), { { 1, 200, "{'version':10}" } },
	  "not_applicable", "newer", "outcome" },
	{ "T38 newer, and none of ours", VERSION_ONLY("'newer':'not_applicable'"), "{}", VERSION_OP(""),
	  { { 1, 200, "{'version':10}" } }, "divergent", "newer", "outcome" },
	{ "T39 the version is right, a field is not", CUSTOMER, "{}", CUSTOMER_OP,
	  { { 1, 200, "{'version':7,'email':'b@example.com'}" } }, "divergent", "field_differs", "compare" },
	{ "a differing field outweighs an older version", CUSTOMER, "{}", CUSTOMER_OP,
	  { { 1, 200, "{'version':6,'email':'b@example.com'}" } }, "divergent", "field_differs", "compare" },
	{ "T40 an ETag that is not ours", OBJECT, "{}", OBJECT_OP,
	  { { 1, 200, NULL, "etag: e2\ncontent-length: 12" } }, "divergent", "field_differs", "compare" },
	{ "T40 an ETag that is ours", OBJECT, "{}", OBJECT_OP,
	  { { 1, 200, NULL, "etag: e1\ncontent-length: 12" } }, "correct", "fields_equal", "compare" },
	{ "T43 a member is absent", CUSTOMER, "{}", CUSTOMER_OP, { { 1, 200, "{'version':7}" } },
	  "ambiguous", "unreadable", "compare" },
	{ "T43 a member is null", CUSTOMER, "{}", CUSTOMER_OP, { { 1, 200, "{'version':7,'email':null}" } },
	  "ambiguous", "unreadable", "compare" },
	{ "T43 a member is empty", CUSTOMER, "{}", CUSTOMER_OP, { { 1, 200, "{'version':7,'email':''}" } },
	  "ambiguous", "unreadable", "compare" },
	{ "T43 a member of another shape", CUSTOMER, "{}", CUSTOMER_OP, { { 1, 200, "{'version':7,'email':['a']}" } },
	  "ambiguous", "unreadable", "compare" },
	{ "T43 our own side is missing", CUSTOMER, "{}", "{'business_key':'c42','version':'7'}",
	  { { 1, 200, "{'version':7,'email':'a@example.com'}" } }, "ambiguous", "unreadable", "compare" },
	{ "T43 a member twice", CUSTOMER, "{}", CUSTOMER_OP,
	  { { 1, 200, "{'version':7,'version':6,'email':'a@example.com'}" } }, "inconclusive", "not_json", "probe" },

	/* references */
	{ "T51 an empty reference is never sent", CUSTOMER, "{}", "{'version':'7'}", { { 1, 200, "{}" } },
	  "ambiguous", "no_reliable_query", "applicable" },
	{ "T52 a reference with a quote is never sent", CUSTOMER, "{}", "{'business_key':'c\\\"42','version':'7'}",
	  { { 1, 200, "{}" } }, "ambiguous", "bad_reference", "reference" },
	{ "H04 a reference that climbs", CUSTOMER, "{}", "{'business_key':'..','version':'7'}",
	  { { 1, 200, "{}" } }, "ambiguous", "bad_reference", "reference" },
	{ "H04 a reference with a fragment", CUSTOMER, "{}", "{'business_key':'c1#x','version':'7'}",
	  { { 1, 200, "{}" } }, "ambiguous", "bad_reference", "reference" },

	/* several probes */
	{ "absent by id goes on to the key", TWO_PROBES, "{}", "{'remote_id':'r1'}",
	  { { MIN(20), 404, NOT_FOUND }, { MIN(20), 200, "{'state':'done'}" } },
	  "correct", "fields_equal", "compare" },
	{ "what is no evidence ends the look", TWO_PROBES, "{}", "{'remote_id':'r1'}", { { MIN(20), 500 } },
	  "inconclusive", "http_5xx", "probe" },
	{ "absent needs all that apply", TWO_PROBES, "{}", "{'remote_id':'r1'}", { { MIN(20), 404, NOT_FOUND } },
	  "inconclusive", "incomplete", "probe" },
	{ "a probe whose needs are missing does not apply", TWO_PROBES, "{}", "{}",
	  { { MIN(5), 404, NOT_FOUND }, { MIN(10), 404, NOT_FOUND } }, "missing", "absent_confirmed", "absence" },
	{ "absent everywhere, twice", TWO_PROBES, "{}", "{'remote_id':'r1'}",
	  { { MIN(5), 404, NOT_FOUND }, { MIN(5), 404, NOT_FOUND }, { MIN(10), 404, NOT_FOUND },
	    { MIN(10), 404, NOT_FOUND } }, "missing", "absent_confirmed", "absence" },

	/* reported failures */
	{ "P01 a 502 page", CUSTOMER, "{}", CUSTOMER_OP, { { MIN(20), 502, "<html><h1>Bad Gateway</h1></html>" } },
	  "inconclusive", "http_5xx", "probe" },
	{ "P01 the page with 200", CUSTOMER, "{}", CUSTOMER_OP,
	  { { MIN(20), 200, "<html><h1>Bad Gateway</h1></html>" } }, "inconclusive", "not_json", "probe" },
	{ "P01 a 500 with JSON", CUSTOMER, "{}", CUSTOMER_OP, { { MIN(20), 500, "{'e':1}" } },
	  "inconclusive", "http_5xx", "probe" },
	{ "P02 visible only after a while", PAYMENT, "{}", PAYMENT_OP,
	  { { 1, 200, EMPTY }, { 20, 200, EMPTY }, { 40, 200, ITEM(PAID) } }, "correct", "fields_equal", "compare" },
	{ "P02 a cached 404 from before the window's end", CUSTOMER, "{}", CUSTOMER_OP,
	  { { MIN(5) + 54, 404, NOT_FOUND, "age: 55" } }, "inconclusive", "not_covered", "probe" },
	{ "P02 a cached 404 does not count", "{" BY_KEY "," VERSION ",'absence':{'over':'1m'}}", "{}", CUSTOMER_OP,
	  { { MIN(5), 404, NOT_FOUND, "age: 1" }, { MIN(6), 404, NOT_FOUND } },
	  "waiting", "absent_unconfirmed", "absence" },
	{ "P02 an Age from after the window's end is fine",
	  "{" BY_KEY "," VERSION ",'absence':{'confirm':'1'}}", "{}", CUSTOMER_OP,
	  { { MIN(6), 404, NOT_FOUND, "age: 60" } }, "missing", "absent_confirmed", "absence" },
	{ "P03 no answer", CUSTOMER, "{}", CUSTOMER_OP, { { MIN(20), .fault = REASON_TIMEOUT } },
	  "inconclusive", "timeout", "probe" },
	{ "P03 refused", CUSTOMER, "{}", CUSTOMER_OP, { { MIN(20), .fault = REASON_REFUSED } },
	  "inconclusive", "refused", "probe" },
	{ "P03 an empty body", CUSTOMER, "{}", CUSTOMER_OP, { { MIN(20), 200, "" } },
	  "inconclusive", "empty_body", "probe" },
	{ "P04 no probe at all", "{" VERSION "}", "{}", CUSTOMER_OP, { { MIN(1500), 200, "{}" } },
	  "ambiguous", "no_reliable_query", "applicable" },
	{ "P04 unreachable, however often", "{" BY_KEY "," VERSION ",'give_up':'3'}", "{}", CUSTOMER_OP,
	  { { MIN(100), .fault = REASON_TIMEOUT }, { MIN(200), .fault = REASON_DNS }, { MIN(300), 503 },
	    { MIN(400), .fault = REASON_TLS }, { MIN(500), 500 }, { DAYS(30), .fault = REASON_TRANSPORT } },
	  "inconclusive", "transport", "probe" },
	{ "P04 the effect is there, a day later", CUSTOMER, "{}", CUSTOMER_OP,
	  { { MIN(1500), 200, "{'version':7,'email':'A@example.com'}" } }, "correct", "fields_equal", "compare" },
	{ "P06 an error inside 200 that no rule names", CUSTOMER, "{}", CUSTOMER_OP,
	  { { MIN(20), 200, "{'status':'ERROR','errors':[{'error':'Record not found'}]}" } },
	  "ambiguous", "unreadable", "compare" },
	{ "P06 400 with a code that no rule names", CUSTOMER, "{}", CUSTOMER_OP,
	  { { MIN(20), 400, "{'code':'19001'}" } }, "inconclusive", "http_4xx", "probe" },
	{ "J01 numbers beyond 2^53", PAYMENT, "{}", "{'expected':{'amount':'9007199254740992','currency':'EUR'}}",
	  { { 1, 200, ITEM("'amount':9007199254740993,'currency':'EUR','status':'succeeded'") } },
	  "divergent", "field_differs", "compare" },
	{ "J01 0.30 against 0.30000000000000004", PAYMENT, "{}", "{'expected':{'amount':'0.30','currency':'EUR'}}",
	  { { 1, 200, ITEM("'amount':0.30000000000000004,'currency':'EUR','status':'succeeded'") } },
	  "divergent", "field_differs", "compare" },
	{ "H03 a redirect", CUSTOMER, "{}", CUSTOMER_OP, { { 1, 302, "", "location: https://other.example" } },
	  "inconclusive", "redirect", "probe" },
	{ "H01 a truncated body", CUSTOMER, "{}", CUSTOMER_OP, { { MIN(20), 200, EMPTY, .fault = REASON_TRUNCATED } },
	  "inconclusive", "truncated", "probe" },

	/* give_up */
	{ "answers that help nobody lead to a person", "{" BY_KEY "," VERSION ",'give_up':'3'}", "{}", CUSTOMER_OP,
	  { { 1, 200, "" }, { 2, 404, "" }, { 3, 200, "<p>" } }, "ambiguous", "give_up", "give_up" },
	{ "a real answer starts that count anew", "{" BY_KEY "," VERSION ",'give_up':'3'}", "{}", CUSTOMER_OP,
	  { { 1, 200, "" }, { 2, 404, "" }, { 3, 404, NOT_FOUND }, { 4, 200, "<p>" } },
	  "inconclusive", "not_json", "probe" },
	{ "an outage in between does not", "{" BY_KEY "," VERSION ",'give_up':'3'}", "{}", CUSTOMER_OP,
	  { { 1, 200, "" }, { 2, 404, "" }, { 3, .fault = REASON_TIMEOUT }, { 4, 200, "<p>" } },
	  "ambiguous", "give_up", "give_up" },
	{ "while the control is lost they do not count", "{" BY_KEY "," VERSION ",'give_up':'3'}", "{}", CUSTOMER_OP,
	  { { 1, 403, "", .control = CONTROL_LOST }, { 2, 404, "", .control = CONTROL_LOST },
	    { 3, 403, "", .control = CONTROL_LOST }, { 4, 200, "<p>", .control = CONTROL_LOST } },
	  "inconclusive", "not_json", "probe" },
	{ "nor end a count that is full", "{" BY_KEY "," VERSION ",'give_up':'2'}", "{}", CUSTOMER_OP,
	  { { 1, 403, "" }, { 2, 403, "" }, { 3, 403, "", .control = CONTROL_LOST } },
	  "inconclusive", "http_4xx", "probe" },
	{ "they count again when it is back", "{" BY_KEY "," VERSION ",'give_up':'2'}", "{}", CUSTOMER_OP,
	  { { 1, 403, "", .control = CONTROL_FOUND }, { 2, 404, "", .control = CONTROL_LOST },
	    { 3, 403, "", .control = CONTROL_FOUND } },
	  "ambiguous", "give_up", "give_up" },
	{ "an empty list to everything, and the control lost", PAYMENT, "{}", PAYMENT_OP,
	  { { MIN(20), 200, EMPTY, .control = CONTROL_LOST }, { MIN(90), 200, EMPTY, .control = CONTROL_LOST },
	    { DAYS(30), 200, EMPTY, .control = CONTROL_LOST } },
	  "inconclusive", "control", "control" },

	/* existence */
	{ "existence is enough where the policy says so",
	  "{" BY_KEY ",'existence_only':'true'}", "{}", CUSTOMER_OP, { { 1, 200, "{'id':'c9'}" } },
	  "correct", "fields_equal", "compare" },
	{ "existence alone is never correct", "{" BY_KEY "}", "{}", CUSTOMER_OP, { { 1, 200, "{'id':'c9'}" } },
	  "ambiguous", "unreadable", "compare" },
};
/* clang-format on */

/* Every rule that was tried, in order, is in the trace; a `why` of several words stands beside. */
static void
test_traces(struct arena *arena)
{
	static const struct scripted refunded[] = { { 1, 200, ITEM("'status':'refunded'") } };
	static const struct scripted manual[] = {
		{ 1, 200, ITEM("'amount':10.99,'currency':'eur','status':'requires_capture'") },
	};
	struct scenario s = scenario_start(arena, PAYMENT, "{}", "{'entity_state':'refunded'}");

	scenario_play(arena, &s, refunded, 1);
	tap_int((long long)s.verdict.traces_count, 3, "three rows were tried");
	tap_str(s.verdict.traces[0].rule, "judge[0]", "the first row");
	tap_ok(!s.verdict.traces[0].held && !s.verdict.traces[1].held && s.verdict.traces[2].held,
	       "only the last one held");
	tap_str(s.verdict.why, "refunded on both sides", "the text of the row");

	s = scenario_start(arena, PAYMENT, "{}",
			   "{'expected':{'amount':'10.99','currency':'EUR','capture':'manual'}}");
	scenario_play(arena, &s, manual, 1);
	tap_int((long long)s.verdict.traces_count, 3, "a row that says compare goes on");
	tap_ok(s.verdict.traces[1].held && s.verdict.traces[2].held, "both held");
	tap_int((long long)s.verdict.compared_count, 2, "two fields were compared");
}

static void
test_remote_id(struct arena *arena)
{
	static const struct scripted text[] = { { 1, 200, "{'id':'c9'}" } };
	static const struct scripted object[] = { { 1, 200, "{'id':{'a':1}}" } };
	static const struct scripted nul[] = { { 1, 200, "{'id':'c\\u00009'}" } };
	struct scenario s = scenario_start(arena, CUSTOMER, "{}", CUSTOMER_OP);

	scenario_play(arena, &s, text, 1);
	tap_str(s.verdict.remote_id, "c9", "remote id is read");
	scenario_play(arena, &s, object, 1);
	tap_str(s.verdict.remote_id, NULL, "an object is no remote id");
	scenario_play(arena, &s, nul, 1);
	tap_str(s.verdict.remote_id, NULL, "a text with a NUL is no remote id");
}

/* What is stored between looks. */
static void
test_earned(struct arena *arena)
{
	static const struct scripted answers[] = {
		{ MIN(15), 200, EMPTY },
		{ MIN(30), .fault = REASON_TIMEOUT },
		{ MIN(31), 200, "" },
		{ MIN(32), 200, EMPTY },
	};
	static const struct scripted found[] = { { MIN(33), 200, ITEM(PAID) } };
	struct scenario s = scenario_start(arena, PAYMENT, "{}", PAYMENT_OP);

	scenario_play(arena, &s, answers, 3);
	tap_int(s.op.earned.looks, 1, "one absence");
	tap_int(s.op.earned.inconclusive, 1, "one answer that helped nobody");
	scenario_play(arena, &s, answers + 3, 1);
	tap_int(s.op.earned.looks, 2, "two absences");
	tap_int(s.op.earned.class, CLASS_MISSING, "towards missing");
	tap_int(s.op.earned.since_us - SENT_US, MIN(15) * 1000000LL, "since the first");
	tap_int(s.op.earned.inconclusive, 0, "the count of useless answers starts anew");
	scenario_play(arena, &s, found, 1);
	tap_int(s.op.earned.looks, 0, "what is found resets");
	tap_ok(s.op.earned.since_us == TIME_NONE, "no time either");
}

/* A run that began before the last send could have landed proves nothing about that send. */
static void
test_new_send(struct arena *arena)
{
	static const struct scripted answers[] = {
		{ MIN(20), 200, EMPTY },
		{ MIN(120), 200, EMPTY },
	};
	struct scenario s = scenario_start(arena, PAYMENT, "{}", PAYMENT_OP);

	s.op.earned = (struct earned){ .class = CLASS_MISSING, .looks = 9, .since_us = SENT_US };
	scenario_play(arena, &s, answers, 1);
	tap_int(s.op.earned.looks, 1, "a run from before the window starts anew");
	s.op.sent_at_us = SENT_US + MIN(90) * 1000000LL;
	scenario_play(arena, &s, answers + 1, 1);
	tap_int(s.op.earned.looks, 1, "and so does one from before a later send");
}

static void
test_flags(struct arena *arena)
{
	static const struct scripted timeout[] = { { 1, .fault = REASON_TIMEOUT } };
	static const struct scripted lost[] = { { 1, 200, EMPTY, .control = CONTROL_LOST } };
	static const struct scripted partial[] = { { 1, 200, "{'has_more':true,'data':[]}" } };
	struct scenario s = scenario_start(arena, PAYMENT, "{}", PAYMENT_OP);

	scenario_play(arena, &s, timeout, 1);
	tap_ok(s.verdict.unavailable, "a timeout: the target could not be asked");
	scenario_play(arena, &s, lost, 1);
	tap_ok(s.verdict.unavailable, "a lost control: the target could not be asked");
	scenario_play(arena, &s, partial, 1);
	tap_ok(!s.verdict.unavailable, "a partial list: the target did answer");
}

int
main(void)
{
	struct arena *arena = arena_create();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		verdict_row_play(arena, &rows[i]);
	test_traces(arena);
	test_remote_id(arena);
	test_earned(arena);
	test_new_send(arena);
	test_flags(arena);
	arena_destroy(arena);
	return tap_done();
}
