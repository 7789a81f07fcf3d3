/** Differences of app-server v2 that are in most of its messages. */
import { at } from "../support/ThreadNames.ts"
import { type Difference, everywhere, only } from "./Difference.ts"
import { added, anyOf, changed, missing } from "./Explain.ts"
import { errorText, from, inPath, member, version, whole } from "./ThreadExplain.ts"

/** A text about a value that cannot be read, in the words of each program. */
const isFault = (original: string, ours: string): boolean =>
  original.startsWith("Invalid request: ") &&
  !original.startsWith("Invalid request: unknown variant `") &&
  /^Invalid (?:request|Request): /.test(ours) &&
  !ours.includes("unknown method")

const isVariant = (original: string, ours: string): boolean =>
  original.startsWith("Invalid request: unknown variant `") &&
  ours.startsWith("Invalid request: params.")

export const threadWire: ReadonlyArray<Difference> = [
  {
    key: "v2-jsonrpc-member",
    original: "Messages never have the member `jsonrpc`.",
    colloquy: "They have it when the client's messages have it.",
    why: "JSON-RPC libraries require it, and clients of the original do not.",
    proofs: [everywhere(version, "app_basic")],
    explains: added(/.*/, "jsonrpc", (ours) => ours === "2.0"),
  },
  {
    key: "v2-emitted",
    original: "Every notification has `emittedAtMs`.",
    colloquy: "Notifications have no such member; items and turns have their times.",
    why: "No client uses it, and it would be in each of thousands of deltas.",
    proofs: [everywhere(version, "app_basic")],
    explains: missing(/.*/, "emittedAtMs"),
  },
  {
    key: "v2-identity",
    original:
      "`userAgent` begins with the name of the first client and the version of the original, and `originator` and `cliVersion` of threads are these.",
    colloquy: "They name Colloquy and its version; `userAgent` also has the name of the client.",
    why: "A client can see which server it is connected to, and which program wrote a thread.",
    proofs: [everywhere(version, "app_basic")],
    explains: inPath(
      /./,
      /(?:^|\.)(?:userAgent|cliVersion|originator)$/,
      (m) => m.kind === "changed",
    ),
  },
  {
    key: "v2-remote-control",
    original:
      "`remoteControl/status/changed` follows the response to `initialize`, and says that remote control is disabled.",
    colloquy: "It is not sent.",
    why: "There is no remote control.",
    proofs: [everywhere(version, "app_basic")],
    explains: whole("missing", /^remoteControl\/status\/changed/),
  },
  {
    key: "v2-rate-limits",
    original: "`account/rateLimits/updated` with empty members follows every model response.",
    colloquy: "It is not sent when no limits are known.",
    why: "It has no information.",
    proofs: [everywhere(version, "app_basic")],
    explains: whole(
      "missing",
      /^account\/rateLimits\/updated$/,
      (m) => member(m, "params", "rateLimits", "primary") === null,
    ),
  },
  {
    key: "v2-model-facts",
    original:
      "For a model that is not in its list the original sends a warning with each turn and assumes a context window.",
    colloquy:
      "It has no list: nothing is assumed, and `modelContextWindow` is null unless it is configured.",
    why: "Any model of any provider can be used.",
    proofs: [everywhere(version, "app_basic")],
    explains: anyOf(
      whole("missing", /^warning$/, (m) =>
        String(member(m, "params", "message")).startsWith("Model metadata for "),
      ),
      changed(
        /^thread\/tokenUsage\/updated$/,
        "params.tokenUsage.modelContextWindow",
        (original, ours) => original === 258400 && ours === null,
      ),
    ),
  },
  {
    key: "v2-git",
    original: "`gitInfo` of a thread is the commit and the branch of its directory.",
    colloquy: "It is null, unless the original has written the thread.",
    why: "Creating a thread runs no command and reads no repository.",
    proofs: [everywhere(version, "app_read_turns")],
    explains: inPath(/./, /(?:^|\.)gitInfo$/, (m) => m.kind === "changed" && m.ours === null),
  },
  {
    key: "v2-notices",
    original:
      "`deprecationNotice` is sent with every list of turns that is read as a whole, and `thread/goal/cleared` after every resume.",
    colloquy: "Neither is sent.",
    why: "Nothing is deprecated here, and threads have no goals.",
    proofs: [everywhere(version, "app_read_turns")],
    explains: whole("missing", /^(?:deprecationNotice|thread\/goal\/cleared)$/),
  },
  {
    key: "v2-question-numbers",
    original: "The ids of the server's requests start at 0, for all connections together.",
    colloquy: "They start at 1 on each connection.",
    why: "Some clients ignore the cancellation of a request with the id 0.",
    proofs: [everywhere(version, "app_exec_accept")],
    explains: anyOf(
      inPath(/\/request|\/tool\/call/, /^id$/, (m) => Number(m.ours) === Number(m.original) + 1),
      inPath(
        /^serverRequest\/resolved$/,
        /^params\.requestId$/,
        (m) => Number(m.ours) === Number(m.original) + 1,
      ),
    ),
  },
  {
    key: "v2-faults",
    original:
      "The error about params that cannot be read names one fault in the words of its parser.",
    colloquy:
      "It has the same code and names every faulty member with its path, also in `data.issues`.",
    why: "The developer of a client can correct it.",
    proofs: [everywhere(version, "app_bad_inputs", "54")],
    explains: anyOf(
      errorText((original, ours) => isFault(original, ours) || isVariant(original, ours)),
      added(/^response to /, "error.data", (ours) =>
        JSON.stringify(ours).startsWith('{"issues":[{"path":['),
      ),
    ),
  },
  {
    key: "v2-unknown-methods",
    original: "The error about an unknown method lists all methods.",
    colloquy: "It names the method, and why it is not served if the original has it.",
    why: "The list has 4,400 characters and does not help.",
    proofs: [
      everywhere(version, "app_misc", "17"),
      everywhere(version, "app_bad_inputs", "58"),
      only(version, "app_experimental_gate", "3", "18", "21"),
    ],
    explains: anyOf(
      errorText(
        (original, ours) =>
          (original.startsWith("Invalid request: unknown variant `") ||
            original.includes("requires experimentalApi capability") ||
            original === "Invalid request: missing field `processHandle`") &&
          /^Invalid request: (?:unknown method `|`\w+` is a notification)/.test(ours),
      ),
      added(
        /^response to /,
        "error.data",
        (ours) => typeof at(ours, "method") === "string" && typeof at(ours, "reason") === "string",
      ),
    ),
  },
  {
    key: "v2-absent-params",
    original: "`params` cannot be absent or null where a method has members, all of them optional.",
    colloquy: "It can: that is an empty object.",
    why: "Nothing is missing in such a request.",
    proofs: [
      only(version, "app_bad_inputs", "50", "53"),
      only(version, "app_thread_start_params", "2", "thread of 2"),
    ],
    explains: anyOf(
      missing(/^response to /, "error", (original) =>
        JSON.stringify(original).includes("missing field `params`"),
      ),
      added(/^response to thread\/(?:list|start)$/, "result"),
      whole("added", /^(?:thread\/started|place of the response to thread\/start)$/),
    ),
  },
  {
    key: "v2-odd-requests",
    original:
      "A request with an id of another type, a method that is no text, or a member twice gets no response.",
    colloquy: "It gets an error, or its response where it can be read.",
    why: "A client that gets no response waits for ever.",
    proofs: [only(version, "app_bad_inputs", "null", "57", "67")],
    explains: whole("added", /^response to /),
  },
  {
    key: "v2-v1-methods",
    original: "The methods of the first version, such as `newConversation`, are unknown.",
    colloquy:
      "They are served on the same connection. A client that has used no method of this version, and not declared `experimentalApi`, gets the response of the first version from methods that both have, such as `model/list`.",
    why: "One server serves the clients of both versions.",
    proofs: [only(version, "app_misc", "2", "19")],
    explains: anyOf(
      inPath(/^response to newConversation$/, /^(?:error|result)$/),
      inPath(/^response to model\/list$/, /^result\.(?:data|nextCursor|items)$/),
    ),
  },
  {
    key: "v2-host-facts",
    original:
      "`permissionProfile/list` has no descriptions, `configRequirements/read` says that speed modes exist, and `skills/list` has the skills that the original brings.",
    colloquy: "Profiles are described; there are no speed modes and only the user's skills.",
    why: "A client can show what a profile allows.",
    proofs: [
      only(version, "app_experimental_gate", "6"),
      only(version, "app_misc", "7", "15"),
      only(version, "app_bad_inputs", "62"),
      only(version, "app_config", "18"),
    ],
    explains: anyOf(
      inPath(/^response to permissionProfile\/list$/, /\.description$/),
      inPath(
        /^response to configRequirements\/read$/,
        /^result\.supportsIndependentSpeedModes$/,
        from(true, null),
      ),
      inPath(/^response to skills\/list$/, /^result\.data\.0\.skills/),
    ),
  },
  {
    key: "v2-models",
    original: "`model/list` has the models of OpenAI, whatever the provider.",
    colloquy: "It has the models that the configuration names.",
    why: "A client offers what can be used.",
    proofs: [only(version, "app_order", "9")],
    explains: inPath(/^response to model\/list$/, /^result\.data/),
  },
]
