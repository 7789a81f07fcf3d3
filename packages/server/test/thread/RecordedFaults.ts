/** Messages of the recordings that a definition of this program reads in another way than the original, with the reasons. */

/** Requests by recording, method and params. */
export const acceptedHere: Readonly<Record<string, string>> = {
  "app_bad_inputs: thread/list null": "params that are null or absent are an empty object",
  "app_bad_inputs: thread/list undefined": "params that are null or absent are an empty object",
  "app_thread_start_params: thread/start undefined":
    "params that are null or absent are an empty object",
  "app_bad_inputs: initialized undefined":
    "a notification with an id is a request with an unknown method, which no definition decides",
  'app_experimental_gate: thread/start {"mockExperimentalField":"x"}':
    "a member for the tests of the original is an unknown member here",
  'app_thread_start_params: thread/start {"nonsense":1}': "unknown members are ignored",
}

/** Requests of the server that the recording's client answers with a result that is wrong on purpose. */
export const answeredWrongly: Readonly<Record<string, string>> = {
  'app_dynamic_tools: item/tool/call answered with {"nonsense":1}': "no result of a tool",
  'app_mcp_elicit_decline: mcpServer/elicitation/request answered with {"foo":1}': "no action",
}

/** Names that belong to no method of the original either, or to another dialect. */
export const foreign: ReadonlyArray<string> = [
  "",
  "Thread/List",
  "newConversation",
  "noSuchMethod",
  "noSuchNotification",
  "notifications/cancelled",
]
