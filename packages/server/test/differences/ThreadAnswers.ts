/** Differences of the responses of app-server v2, and of what is stored. */
import { type Difference, everywhere, only } from "./Difference.ts"
import { added, anyOf, missing } from "./Explain.ts"
import {
  errorText,
  failsWith,
  from,
  inPath,
  moved,
  placed,
  succeeds,
  version,
  whole,
} from "./ThreadExplain.ts"

export const threadAnswers: ReadonlyArray<Difference> = [
  {
    key: "v2-unserved",
    original: "Its methods include goals, memories, searches in threads and others.",
    colloquy: "They are errors that say why; the table below lists them.",
    why: "The table has the reasons.",
    proofs: [
      only(version, "app_list_paging", "35"),
      only(version, "app_thread_ops", "13", "14", "24", "25", "26", "27"),
    ],
    explains: failsWith("of app-server-v2 is not supported: "),
  },
  {
    key: "v2-unstored",
    original:
      "A thread that is ephemeral, or has no turn yet, cannot be resumed or forked, and its turns cannot be read; the preview of an ephemeral one is empty.",
    colloquy: "It can as long as it is in memory, and it has a preview.",
    why: "A second client can follow it, and no client has to wait for the first turn.",
    proofs: [
      only(version, "app_ephemeral", "6", "7", "8", "9", "10", "15", "thread of 2", "thread of 10"),
      only(version, "app_fork_variants", "3", "thread of 2", "thread of 3"),
      only(version, "app_read_turns", "4", "5", "6"),
    ],
    explains: anyOf(
      inPath(/^response to thread\/read$/, /^result\.thread\.preview$/, from("", "eph")),
      ...["read", "turns/list", "items/list", "resume", "fork"].map((name) =>
        succeeds(`thread/${name}`),
      ),
      inPath(/^response to thread\/loaded\/list$/, /^result\.data$/),
      placed("thread/fork"),
      whole("added", /^thread\/(?:tokenUsage\/updated|started)/),
    ),
  },
  {
    key: "v2-closed",
    original: "`thread/closed` is never sent.",
    colloquy: "It tells the subscribers of a thread that ends that no event follows.",
    why: "A client can stop to wait.",
    proofs: [everywhere(version, "app_archive_running")],
    explains: whole("added", /^thread\/closed$/),
  },
  {
    key: "v2-response-first",
    original: "`thread/resume` announces the status of a thread that it loads before its response.",
    colloquy: "The response comes first.",
    why: "The notifications that a request causes follow its response.",
    proofs: [
      only(version, "app_resume_after_restart", "process 2 thread of 2"),
      only(version, "app_eof_then_resume", "process 2 thread of 2"),
      only(version, "app_resume_overrides", "thread of 7"),
    ],
    explains: moved(/^thread\/status\/changed idle$/),
  },
  {
    key: "v2-resume-settings",
    original: "`thread/resume` ignores settings for a thread that is loaded.",
    colloquy: "It applies them.",
    why: "A client that sends them expects that they hold.",
    proofs: [only(version, "app_resume_overrides", "4", "5")],
    explains: inPath(
      /^response to thread\/resume$/,
      /^result\.(?:thread\.)?(?:environments\.0\.(?:cwd|runtimeWorkspaceRoots\.0)|model|cwd|runtimeWorkspaceRoots\.0|approvalPolicy|sandbox\.(?:type|networkAccess)|collaborationMode\.settings\.model)$/,
    ),
  },
  {
    key: "v2-given-history",
    original: "A thread that begins with a history of the client shows nothing of it.",
    colloquy: "It is the first turn of the thread.",
    why: "A person sees what the model is sent.",
    proofs: [only(version, "app_resume_overrides", "7")],
    explains: inPath(
      /^response to thread\/resume$/,
      /^result\.(?:thread\.turns\.0|(?:turns|items)BackwardsCursor)$/,
    ),
  },
  {
    key: "v2-outside-path",
    original: "The error about a path without a rollout file says whether there is a file.",
    colloquy: "A path outside the sessions directory is not opened; the error names the directory.",
    why: "A client must not find out about other files.",
    proofs: [only(version, "app_resume_overrides", "6")],
    explains: errorText((_, ours) =>
      ours.startsWith("path: expected the absolute path of a rollout file in /state/sessions"),
    ),
  },
  {
    key: "v2-open-turn-forked",
    original: "A copy of a thread has the turn that runs, as interrupted.",
    colloquy: "It has the turns that have ended.",
    why: "The copy has no part of a turn whose tools still run.",
    proofs: [only(version, "app_fork_variants", "14")],
    explains: inPath(
      /^response to thread\/fork$/,
      /^result\.thread\.turns$/,
      (m) => (m.original as Array<unknown>).length === (m.ours as Array<unknown>).length + 1,
    ),
  },
  {
    key: "v2-legacy-history",
    original:
      "The setting `historyMode` makes threads whose items have other ids and no times when they are read back, and cannot be listed.",
    colloquy: "All threads are `paginated`: what is read back is what was notified.",
    why: "A client that reconnects can match what it has with what it reads.",
    proofs: [everywhere(version, "app_legacy_history")],
    explains: anyOf(
      inPath(/./, /(?:^|\.)historyMode$/, from("legacy", "paginated")),
      inPath(
        /^response to thread\/(?:read|turns\/list|resume|fork)$/,
        /\.items\.\d+\.(?:id|startedAtMs|completedAtMs)$/,
        ({ original }) =>
          original === null || (typeof original === "string" && original.startsWith("<read ")),
      ),
      inPath(
        /^response to thread\/resume$/,
        /^result\.(?:turns|items)BackwardsCursor$/,
        from(null, "<cursor>"),
      ),
    ),
  },
  {
    key: "v2-legacy-items",
    original:
      "`thread/items/list` is an error for such a thread, and before its checks of other errors.",
    colloquy: "It lists the items of every thread.",
    why: "There is one kind of threads.",
    proofs: [only(version, "app_legacy_history", "6"), only(version, "app_experimental_gate", "5")],
    explains: anyOf(succeeds("thread/items/list"), (m) => {
      const isText =
        m.path === "error.message" && m.original === "thread/items/list is not supported yet"
      return isText || (m.path === "error.code" && from(-32601, -32600)(m))
    }),
  },
  {
    key: "v2-no-race",
    original:
      "Requests just behind `turn/start` fail, because the rollout file of the thread is still empty.",
    colloquy: "They succeed.",
    why: "What was acknowledged is stored.",
    proofs: [only(version, "app_order", "6", "10", "thread of 2")],
    explains: anyOf(
      succeeds("thread/read"),
      succeeds("thread/name/set"),
      whole("added", /^thread\/name\/updated$/),
    ),
  },
  {
    key: "v2-order-of-responses",
    original: "The response to `turn/start` is sent before those of later requests.",
    colloquy: "Requests run at the same time, and a later one can be answered first.",
    why: "A slow request does not delay the others.",
    proofs: [only(version, "app_order", "thread of 2")],
    explains: placed("turn/start"),
  },
  {
    key: "v2-unknown-settings",
    original:
      "Unknown keys of `config.toml` are reported by `configWarning` and `warning` when a thread starts.",
    colloquy: "`configWarning` reports them, with the line of each.",
    why: "A fault of the configuration is none of the thread, and a client is told of it once.",
    proofs: [only(version, "app_config")],
    explains: whole("missing", /^warning$/, (m) =>
      JSON.stringify(m.original).includes("unrecognized configuration setting"),
    ),
  },
  {
    key: "v2-unread-turns",
    original:
      "The first unread turn is one with an answer, and no copied one; a client that has not declared `experimentalApi` gets it from `thread/list` and `thread/read` as well.",
    colloquy:
      "It is the first turn that has ended since the thread was read last, also a copied or imported one. Other clients get null.",
    why: "What was copied has not been read in this thread, and only such clients can set it.",
    proofs: [
      only(version, "app_fork_variants", "thread of 14"),
      only(version, "app_resume_overrides", "thread of 7"),
      only(version, "app_eof_then_resume", "process 2 2", "process 2 5"),
      only(version, "app_resume_after_restart", "process 2 2"),
      only(version, "app_list_resume_fork", "3", "7", "8", "9", "11", "12", "13", "14", "31"),
      only(version, "app_model_errors", "14"),
      only(version, "app_ws_late_joiner_pending_approval", "B 3"),
    ],
    explains: anyOf(
      inPath(
        /^(?:thread\/readState\/changed|response to thread\/read)$/,
        /readState\.firstUnread\.turnId$/,
      ),
      inPath(
        /^response to thread\/(?:list|read)$/,
        /^result\.readStates?$/,
        ({ ours }) => ours === null,
      ),
    ),
  },
  {
    key: "v2-tool-names",
    original: "The error about the name of a client's tool quotes its pattern.",
    colloquy: "It names the member and what was expected.",
    why: "The developer of a client can correct it.",
    proofs: [only(version, "app_dynamic_tools", "4")],
    explains: errorText((original) => original.startsWith("dynamic tool name must match ")),
  },
  {
    key: "v2-base64",
    original: "The error about text that is not base64 has the symbol and its place.",
    colloquy: "It says what was expected.",
    why: "Clients encode with libraries.",
    proofs: [only(version, "app_command_exec", "8")],
    explains: errorText((original) => original.startsWith("invalid deltaBase64: ")),
  },
  {
    key: "v2-test-members",
    original: "Members and methods for its own tests need `experimentalApi`.",
    colloquy: "There are none; they are ignored like other unknown members.",
    why: "No client sends them.",
    proofs: [only(version, "app_experimental_gate", "8", "thread of 8")],
    explains: anyOf(
      missing("response to thread/start", "error"),
      added("response to thread/start", "result"),
      whole("added", /^(?:thread\/started|place of the response to thread\/start)$/),
    ),
  },
  {
    key: "v2-archived-settings",
    original: "A thread that is not loaded has the model of its last turn.",
    colloquy: "It has the model with which it was created, until it is loaded.",
    why: "Lists read no logs.",
    proofs: [only(version, "app_thread_ops", "29", "32")],
    explains: inPath(
      /^response to thread\/(?:read|unarchive)$/,
      /^result\.thread\.(?:model|reasoningEffort)$/,
    ),
  },
  {
    key: "v2-archived-turn",
    original: "A turn of an archived thread is refused with `thread not found`.",
    colloquy: "The error says that the thread is archived.",
    why: "`thread/unarchive` makes it usable again.",
    proofs: [only(version, "app_thread_ops", "30")],
    explains: errorText((_, ours) => ours.includes("is archived. Run `codex unarchive")),
  },
]
