/**
 * Where Colloquy answers differently from the original 0.29, in words for users. Each entry is shown by at least one
 * replay of a recording (`Replay.test.ts`), and no replay shows a difference that is not here.
 */
export interface NamedDifference {
  readonly key: string
  /** What the original does. */
  readonly original: string
  /** What Colloquy does instead. */
  readonly colloquy: string
  readonly why: string
}

export const differences = [
  {
    key: "server-identity",
    original: "`initialize` answers with the server name `codex-mcp-server`.",
    colloquy:
      "`initialize` answers with the server name `colloquy` and the version `0.153.4+colloquy.x.y.z`: the compatible version, then its own.",
    why: "A client should see which server it talks to.",
  },
  {
    key: "event-capability",
    original: "`initialize` does not tell that `codex/event` notifications will come.",
    colloquy: "`initialize` lists `codex/event` under the experimental capabilities.",
    why: "A client can find out about the events without knowing the server's name.",
  },
  {
    key: "more-capabilities",
    original: "`initialize` declares tools alone.",
    colloquy: "`initialize` also declares resources, prompts, completion and a log.",
    why: "The server has them.",
  },
  {
    key: "more-methods",
    original: "Requests for resources, prompts, completion and the log's level are never answered.",
    colloquy: "They are answered.",
    why: "A client that is never answered waits for ever, and conversations are worth reading.",
  },
  {
    key: "bad-cursor",
    original: "A `cursor` that nobody gave is ignored, and the first page is told again.",
    colloquy: "Such a request gets the error -32602.",
    why: "The Model Context Protocol asks for it; a client would read the same page for ever.",
  },
  {
    key: "newer-arguments",
    original: "`codex` knows the arguments of its own version only.",
    colloquy: "`codex` also takes `developer-instructions` and `compact-prompt` of later versions.",
    why: "One server serves the clients of every version.",
  },
  {
    key: "reply-keys",
    original: "`codex-reply` takes the conversation's id as `sessionId` only.",
    colloquy: "`codex-reply` takes it as `threadId`, `conversationId` or `sessionId`.",
    why: "The name changed twice, and the clients of every version should work.",
  },
  {
    key: "while-running",
    original: "Two calls of `codex-reply` at once: one of them is never answered.",
    colloquy:
      "Each is answered with its own turn's result; `while-running` says whether the later one waits, joins or interrupts.",
    why: "A client that is never answered waits for ever.",
  },
  {
    key: "progress",
    original: "A call that names a progress token is told no progress.",
    colloquy: "Such a call gets `notifications/progress` at every item and every ten seconds.",
    why: "Clients give up on calls that say nothing for a minute.",
  },
  {
    key: "closed-arguments",
    original: "The input schemas leave open whether unknown arguments are allowed.",
    colloquy: "The input schemas say that unknown arguments are not allowed.",
    why: "A client can find a misspelt argument before it sends the call.",
  },
  {
    key: "open-config",
    original: "The schema of `config` spells out that it may have any member.",
    colloquy: "The schema of `config` leaves that to JSON Schema's default, which means the same.",
    why: "The schema is derived from the definition that also reads the arguments.",
  },
  {
    key: "output-schema",
    original: "The tools have no output schema.",
    colloquy: "The tools have an output schema with `threadId`, `conversationId` and `content`.",
    why: "A client can rely on the shape of the structured result.",
  },
  {
    key: "event-thread-id",
    original: "An event names the request that caused it.",
    colloquy:
      "An event names the request that caused it and, in `_meta.threadId`, the conversation.",
    why: "A client can tell conversations apart without keeping a table of its requests.",
  },
  {
    key: "session-settings",
    original: "`session_configured` tells the id and the model.",
    colloquy:
      "`session_configured` also tells the provider, the approval policy, the sandbox policy, the directory and the id under its newest name.",
    why: "A client can check which settings took effect.",
  },
  {
    key: "token-totals",
    original: "`token_count` tells the tokens of the last response.",
    colloquy:
      "`token_count` also tells the tokens of the whole conversation and the context window, in the `info` of later versions.",
    why: "Clients of older and of newer versions both find what they read.",
  },
  {
    key: "structured-content",
    original: "The result of a tool call is a text.",
    colloquy:
      "The result also has `structuredContent` with the text and the id of the conversation.",
    why: "A client needs the id for `codex-reply` and should not have to fish it out of the events.",
  },
  {
    key: "thread-id-text",
    original: "The content of a result is one text, without the id of the conversation.",
    colloquy:
      'A second text names the id and how to continue, unless `mcp_thread_id = "structured"`; the first text is the same.',
    why: "Many clients pass the content alone to their model, which could not call `codex-reply`.",
  },
  {
    key: "unknown-tool",
    original: "A call of an unknown tool gives a result with `isError`.",
    colloquy:
      "A call of an unknown tool gives the error -32602 with the nearest known name and a list of all names.",
    why: "The Model Context Protocol asks for an error.",
  },
  {
    key: "unknown-method",
    original: "A request with an unknown method is never answered.",
    colloquy: "A request with an unknown method gets the error -32601.",
    why: "A client that is never answered waits for ever.",
  },
  {
    key: "bad-params",
    original: "A request whose parameters cannot be read is never answered.",
    colloquy: "Such a request gets the error -32602, which names each faulty member.",
    why: "A client that is never answered waits for ever.",
  },
  {
    key: "bad-message",
    original: "A line that is no JSON-RPC message is dropped in silence.",
    colloquy:
      "Such a line gets the error -32700 or -32600, with the request's id where it can be read.",
    why: "JSON-RPC asks for an answer, and a person who writes a client needs it.",
  },
  {
    key: "byte-order-mark",
    original: "A line that begins with a byte order mark is dropped in silence.",
    colloquy: "A byte order mark at the beginning of a line is skipped.",
    why: "Some platforms write one without being asked.",
  },
  {
    key: "unknown-argument",
    original: "Unknown and misspelt arguments are ignored, and the agent runs.",
    colloquy:
      "An unknown argument gives a result with `isError` that names it and the nearest known argument, and nothing runs.",
    why: "A misspelt `approval-policy` that is ignored runs with the wrong policy.",
  },
  {
    key: "argument-fault",
    original: "The text about a bad argument does not say which argument it is.",
    colloquy: "The same text goes on with the name of the argument and what was expected.",
    why: "A person or a model can mend the call at once.",
  },
  {
    key: "arguments-shape",
    original: "Arguments that are not an object are refused with the name of an internal type.",
    colloquy: "They are refused with a text that asks for a map of arguments of that tool.",
    why: "A caller does not know the internal type.",
  },
  {
    key: "error-result",
    original: "A turn that fails answers with `{ error }`, which is no tool result.",
    colloquy:
      "A turn that fails answers with a tool result: the same text, `isError` and the id of the conversation.",
    why: "Clients that check results reject the original's answer and lose the conversation.",
  },
  {
    key: "error-completes",
    original: "After an `error` event the turn ends without a further event for that call.",
    colloquy: "After an `error` event `task_complete` follows, before the answer.",
    why: "Every turn ends with one final event, so a client needs one rule only.",
  },
  {
    key: "reply-after-error",
    original:
      "`codex-reply` after a failed turn answers at once with an empty text: it takes the old turn's last event for its own.",
    colloquy: "`codex-reply` after a failed turn asks the model and answers with what it says.",
    why: "The message must not be lost.",
  },
  {
    key: "elicitation-form",
    original:
      "A question asks for a form without members and understands the answer `{ decision }` alone.",
    colloquy:
      "A question asks for a form with one member, `decision`, and lists the decisions; answers of the specification and `{ decision }` are both understood.",
    why: "Any client of the Model Context Protocol can put the question and answer it.",
  },
  {
    key: "question-numbers",
    original: "Questions are numbered from 0.",
    colloquy: "Questions are numbered from 1.",
    why: "The official TypeScript clients 1.x do not hear that a request 0 is withdrawn.",
  },
  {
    key: "elicitation-thread-id",
    original: "A question names the call that it belongs to.",
    colloquy: "A question also names the conversation, in `threadId`, as later versions do.",
    why: "A client can tell conversations apart without keeping a table of its requests.",
  },
  {
    key: "command-reason",
    original: "The reason of a command is in the event alone.",
    colloquy: "The reason is also in the question, in its message and in `codex_reason`.",
    why: "A person should read why before they allow it.",
  },
  {
    key: "question-text",
    original:
      "The message of a question is one sentence with the command as it is, and its reason is what the model or the tool wrote.",
    colloquy:
      "That sentence is the first line; a command that is long, has line feeds or cannot be seen as it is follows below, with a margin. Message and `reason` say what an approval allows, name the files of a patch and the characters that look like others, and quote what the model and the tool wrote.",
    why: "A person decides by what they read, and no text of a model may look like a statement of the server.",
  },
  {
    key: "parsed-command",
    original: "A question shows the command alone.",
    colloquy:
      "A question and its event also tell what the command does, in `codex_parsed_cmd` and `parsed_cmd`, as later versions do.",
    why: "A client can say that a file is read or searched without parsing shell scripts.",
  },
  {
    key: "plain-accept",
    original: "An answer that accepts without a decision is a denial.",
    colloquy: "An answer that accepts without a decision is an approval.",
    why: "It is what a client without forms sends when its person says yes.",
  },
  {
    key: "error-denies",
    original:
      "A question that is answered with an error stays open, and the call is never answered.",
    colloquy: "It is denied, and the turn goes on.",
    why: "A client that is never answered waits for ever.",
  },
  {
    key: "not-asked",
    original: "A client that did not declare elicitation is asked all the same.",
    colloquy:
      "Such a client is not asked: the setting `unattended` decides at once, which denies unless it is changed, and the result says so in `_meta`.",
    why: "The Model Context Protocol asks for it, and a client that cannot answer would hang.",
  },
  {
    key: "abort-answered",
    original: "A call whose turn is stopped by the answer `abort` is never answered.",
    colloquy: "Such a call gets a result with `isError` and the id of the conversation.",
    why: "A client that is never answered waits for ever.",
  },
  {
    key: "stopped-tokens",
    original: "The tokens of a response whose turn is stopped at its question are not told.",
    colloquy: "They are told in `token_count`, before `turn_aborted`.",
    why: "They were spent, and the totals count them.",
  },
  {
    key: "events-of-next-call",
    original:
      "After a call was stopped by `abort`, events of the next call name the stopped one's request.",
    colloquy: "Events name the request of the call that caused them.",
    why: "A client could not tell whose events they are.",
  },
  {
    key: "end-of-input",
    original: "The process lives on after the end of its input while a turn runs.",
    colloquy:
      "At the end of input the turns that still run are stopped, their calls get the error -32000, and the process ends.",
    why: "Nobody is left to read the answer, and orphaned processes cost money.",
  },
  {
    key: "end-of-input-bound",
    original: "A turn that streams at the end of input is finished, however long it takes.",
    colloquy: "It has half a second to finish; then it is stopped and its call gets an error.",
    why: "A server whose client is gone must end within a bound.",
  },
  {
    key: "output-encoding",
    original: "The output of a running command comes as lists of numbers, one per byte.",
    colloquy: "It comes as base64 texts, as in later versions.",
    why: "It takes a third of the room, and the clients of later versions read it.",
  },
  {
    key: "timeout-output",
    original:
      "A command that runs out of time is told with the exit code -1 and without what it had printed.",
    colloquy: "It is told with the exit code 124 and what it had printed.",
    why: "The output says where it hung; the exit code is the usual one.",
  },
  {
    key: "sandbox-exit-code",
    original: "A command that fails in the sandbox is told with the exit code -1.",
    colloquy: "It is told with its own exit code.",
    why: "A failed test and a forbidden write are different things.",
  },
  {
    key: "diff-once",
    original: "`turn_diff` is repeated after every response of the model.",
    colloquy: "`turn_diff` comes when a patch changed something.",
    why: "Nothing is lost, and the diff of a long turn is not sent twenty times.",
  },
  {
    key: "config-fault",
    original: "The text about a `config.toml` that cannot be read quotes the line.",
    colloquy: "The text names the file, the line and the column and quotes nothing.",
    why: "The file may hold keys, and the text goes to a model.",
  },
] as const satisfies ReadonlyArray<NamedDifference>

export type DifferenceKey = (typeof differences)[number]["key"]

/** What differs from the original 0.153.4 alone, the last one that was an MCP server. */
export const laterDifferences = [
  {
    key: "user-agent",
    original:
      "`initialize` answers with a `user_agent` made of the client's name and the platform.",
    colloquy: "`initialize` answers without one.",
    why: "The client knows both.",
  },
  {
    key: "older-arguments",
    original:
      'The arguments, policies and names of ids of earlier versions are gone, and `approval_policy = "untrusted"` with them.',
    colloquy:
      "`include-plan-tool`, `profile`, `sessionId`, `untrusted` and `on-failure` are still understood.",
    why: "One server serves the clients of every version.",
  },
  {
    key: "untrusted-starts",
    original: 'With `approval_policy = "untrusted"` in config.toml the process exits at its start.',
    colloquy: "The setting works: all but known harmless commands are asked about.",
    why: "A configuration that was right should not cost the whole server.",
  },
  {
    key: "both-ids",
    original: "The structured result names the conversation `threadId`.",
    colloquy: "It names it `threadId` and `conversationId`, and the output schema says so.",
    why: "Clients of the versions between read the older name.",
  },
  {
    key: "turn-ids",
    original: "Events and questions name their turn by an id of its own.",
    colloquy:
      "They name it as earlier versions do: by the request's id in a new conversation, else by a count.",
    why: "Clients of every version before read it so; `_meta.requestId` is the same in all.",
  },
  {
    key: "turn-members",
    original: "The events at the ends of a turn tell its id, its times and its mode.",
    colloquy: "They tell neither.",
    why: "A client has a clock, and nothing else refers to the id.",
  },
  {
    key: "item-events",
    original:
      "Every message, command and thought is also told as `item_started` and `item_completed`.",
    colloquy: "They are told once, by the events that all versions know.",
    why: "The same text twice costs twice.",
  },
  {
    key: "raw-events",
    original:
      "What goes to the model and comes from it is told as `raw_response_item` and `raw_response_completed`.",
    colloquy: "It is not told.",
    why: "It repeats the other events and shows the instructions.",
  },
  {
    key: "user-message",
    original: "The prompt is told back as `user_message`.",
    colloquy: "It is not told back.",
    why: "The client has sent it.",
  },
  {
    key: "startup-events",
    original:
      "Each conversation tells that its tool servers have started, even when there are none, and each turn warns of a model that it does not know.",
    colloquy: "Neither is told.",
    why: "Nothing happened, and there is nothing to do about it.",
  },
  {
    key: "delta-names",
    original:
      "Pieces of text come as `agent_message_content_delta` and `reasoning_content_delta`, with the ids of turn and item.",
    colloquy: "They come as `agent_message_delta` and `agent_reasoning_delta`, as before.",
    why: "Clients of every version before read these; what ends a message is the same in all.",
  },
  {
    key: "text-members",
    original:
      "Messages, breaks between thoughts and errors carry members for the original's own interface: phase, citation, positions, kind.",
    colloquy: "They carry the text.",
    why: "Most are empty, and none is explained.",
  },
  {
    key: "session-members",
    original: "`session_configured` tells a permission profile and who reviews approvals.",
    colloquy: "It tells the sandbox policy instead, and the two counts of earlier versions.",
    why: "The profile says the same in another shape.",
  },
  {
    key: "token-members",
    original:
      "`token_count` tells limits whose members are all empty, and tokens written to a cache.",
    colloquy:
      "It tells no limits that are not known, and the usage of the last response flat as well.",
    why: "Clients of the oldest versions read the flat members.",
  },
  {
    key: "empty-token-count",
    original: "A response that breaks off is followed by a `token_count` without any count.",
    colloquy: "It is not.",
    why: "It tells nothing.",
  },
  {
    key: "context-window",
    original: "The context window of an unknown model is told as 258,400 tokens.",
    colloquy: "It is told as unknown.",
    why: "A guess should not look like a fact.",
  },
  {
    key: "command-members",
    original:
      "The events about a command also tell its process, its turn, its times and where it came from; its directory is a `file:` address, and the end repeats the command.",
    colloquy: "They tell what earlier versions told; the directory is a path.",
    why: "The call's id ties the end to its beginning.",
  },
  {
    key: "timeout-end",
    original:
      "A command that runs out of time is left running in the background, and its end is not told.",
    colloquy: "It is stopped, and its end is told.",
    why: "What runs on unseen costs, and may be harmful.",
  },
  {
    key: "question-members",
    original:
      "The event of a question also offers a rule that would allow such commands for ever, and lists the decisions.",
    colloquy: "It offers no such rule; the decisions are in the question's form.",
    why: "A rule for ever should not be one key away.",
  },
  {
    key: "drop-text",
    original: "The text about a broken stream contains two reasons of the same meaning.",
    colloquy: "It contains one.",
    why: "The earlier versions' text is shorter.",
  },
  {
    key: "effort-checked",
    original: "An unknown `model_reasoning_effort` is sent to the model's provider.",
    colloquy: "It gives a result with `isError` that lists the known ones.",
    why: "The person who wrote it learns of it before anything runs.",
  },
  {
    key: "params-code",
    original:
      "A known method whose parameters cannot be read gets the error -32601, which says that there is no such method.",
    colloquy:
      "It gets -32602 with each faulty member; a fault in a tool's arguments is a result, which a model can read.",
    why: "JSON-RPC and the Model Context Protocol ask for it.",
  },
  {
    key: "method-text",
    original: "The text of the error -32601 begins in lower case.",
    colloquy: "It begins in upper case, as the specification writes it.",
    why: "The code and `data.method` are the same.",
  },
  {
    key: "lenient-version",
    original:
      "A request without `jsonrpc`, with another version than 2.0 or with positional parameters is dropped in silence.",
    colloquy: "It is answered, as versions up to 0.77 do.",
    why: "A client that is never answered waits for ever.",
  },
  {
    key: "crossed-answer",
    original:
      "After a cancelled call the answer of the next one, and its events, go to the id of the cancelled one.",
    colloquy:
      "Every answer and every event goes to its own request; the cancelled one gets no answer.",
    why: "The caller waits for ever, and another one takes the answer for its own.",
  },
] as const satisfies ReadonlyArray<NamedDifference>

export type LaterDifferenceKey = (typeof laterDifferences)[number]["key"]
