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
    colloquy: "`initialize` answers with the server name `colloquy` and its own version.",
    why: "A client should see which server it talks to.",
  },
  {
    key: "event-capability",
    original: "`initialize` does not tell that `codex/event` notifications will come.",
    colloquy: "`initialize` lists `codex/event` under the experimental capabilities.",
    why: "A client can find out about the events without knowing the server's name.",
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
    key: "elicitation-thread-id",
    original: "A question names the call that it belongs to.",
    colloquy: "A question also names the conversation, in `threadId`, as later versions do.",
    why: "A client can tell conversations apart without keeping a table of its requests.",
  },
  {
    key: "command-reason",
    original: "The reason of a command is in the event alone.",
    colloquy: "The reason is also in the question, in `codex_reason` and in its form.",
    why: "A person should read why before they allow it.",
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
      "Such a client is not asked: the setting `unattended` decides at once, which denies unless it is changed.",
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
