/** Differences of the requests and responses of the app-server. */
import type { Mismatch } from "../support/Compare.ts"
import { type Difference, everywhere, only } from "./Difference.ts"
import { added, anyOf, changed, missing } from "./Explain.ts"

const text = (value: unknown): string => JSON.stringify(value) ?? ""

/** The response to an interrupt. */
const isInterrupted = ({ ours }: Mismatch) =>
  text(ours).endsWith('"result":{"abortReason":"interrupted"}}')

const silent = added("response", "")

export const appRequests: ReadonlyArray<Difference> = [
  {
    key: "app-identity",
    original:
      "The server identifies itself as `codex_cli_rs`, beside MCP as `codex-mcp-server` with the capability `tools`.",
    colloquy: "It identifies itself as `colloquy` and declares its capabilities.",
    why: "A client can see which server it is connected to.",
    proofs: [everywhere("0.29.0-app", "conv_basic", "1"), everywhere("0.45.0", "conv_basic", "1")],
    explains: (m) =>
      m.label === "response" &&
      /^result\.(userAgent|serverInfo\..*|capabilities\..*)$/.test(m.path),
  },
  {
    key: "app-jsonrpc-member",
    original: "Messages never have the member `jsonrpc`.",
    colloquy: "They have it when the client's messages have it.",
    why: "JSON-RPC libraries require it, and clients of the original do not.",
    proofs: [everywhere("0.45.0", "conv_basic")],
    explains: added(/.*/, "jsonrpc", (ours) => ours === "2.0"),
  },
  {
    key: "app-turn-of-message",
    original: "The response to a message is an empty object, that to an interrupt has the reason.",
    colloquy:
      "The response to a message also names the turn that it started or joined, that to an interrupt the turn that ended.",
    why: "A client can tell the events of its own turn from others.",
    proofs: [everywhere("0.29.0-app", "conv_basic", "4"), everywhere("0.45.0", "conv_basic", "4")],
    explains: added("response", /^result\.(turnId|disposition)$/),
  },
  {
    key: "app-interrupt-answered",
    original:
      "`interruptConversation` never gets a response when no turn runs or no listener exists.",
    colloquy: "It always gets a response.",
    why: "A client that gets no response waits for ever.",
    proofs: [
      everywhere("0.29.0-app", "conv_exec_approved", "5"),
      everywhere("0.45.0", "conv_exec_approved", "5"),
    ],
    explains: (m) => silent(m) && isInterrupted(m),
  },
  {
    key: "app-answered",
    original:
      "Beside MCP a request that cannot be decoded, or that is of a later version, never gets a response.",
    colloquy: "It gets a response.",
    why: "A client that gets no response waits for ever.",
    proofs: [everywhere("0.29.0-app", "conv_exec_one_off", "2")],
    explains: (m) => silent(m) && !isInterrupted(m),
  },
  {
    key: "app-faults",
    original: "The error about a faulty request is `Invalid request`.",
    colloquy: "Each faulty member follows, in the text and in `data.issues`; the code is the same.",
    why: "The developer of a client can correct it.",
    proofs: [everywhere("0.45.0", "conv_exec_one_off", "10")],
    explains: anyOf(
      changed(
        "response",
        "error.message",
        (original, ours) =>
          original === "Invalid request" && String(ours).startsWith("Invalid request: "),
      ),
      added(
        "response",
        "error.data",
        (ours) =>
          text(ours).startsWith('{"issues":[{"path":') && !text(ours).includes("rollout file"),
      ),
    ),
  },
  {
    key: "app-optional-params",
    original:
      "A request whose parameters are all optional cannot omit `params`; `model/list` is unknown.",
    colloquy: "`params` can be omitted, and `model/list` is served, as in later versions.",
    why: "Nothing is missing in such a request.",
    proofs: [everywhere("0.45.0", "conv_list_resume_archive", "15")],
    explains: anyOf(
      missing("response", "error", (original) => text(original).includes("Invalid request")),
      added("response", "result"),
    ),
  },
  {
    key: "app-rollout-path",
    original: "Not every response that names a conversation names its rollout file.",
    colloquy:
      "Every response to a request that creates or resumes a conversation has `rolloutPath`, unless no files are kept.",
    why: "`archiveConversation` and `resumeConversation` take it.",
    proofs: [
      everywhere("0.29.0-app", "conv_basic", "2"),
      everywhere("0.45.0", "conv_list_resume_archive", "16"),
    ],
    explains: added("response", "result.rolloutPath"),
  },
  {
    key: "app-initial-messages",
    original:
      "`initialMessages` contains every repeated `token_count`, and `sessionConfigured` is sent before the response.",
    colloquy: "It contains each once, and the response is sent first.",
    why: "The notifications that a request causes follow its response.",
    proofs: [only("0.45.0", "conv_list_resume_archive")],
    explains: changed(/.*/, /^(result|params)\.initialMessages$/, () => true),
  },
  {
    key: "app-last-page",
    original: "The last page of `listConversations` has a `nextCursor`.",
    colloquy: "It has none.",
    why: "A client sees that the list is complete.",
    proofs: [only("0.45.0", "conv_list_resume_archive", "9", "11", "12", "25")],
    explains: missing(/.*/, "result.nextCursor"),
  },
  {
    key: "app-config-names",
    original: "`getConfigToml` returns the saved configuration (0.29).",
    colloquy: "`getUserSavedConfig` returns it, as in later versions.",
    why: "0.45 does not know the older name.",
    proofs: [only("0.29.0-app", "conv_misc", "4")],
    explains: anyOf(
      missing("response", "result", (original) => text(original).includes('"profiles"')),
      added("response", "error", (ours) => text(ours).includes("getConfigToml")),
    ),
  },
  {
    key: "app-archived",
    original: "A message to an archived conversation gets `conversation not found`.",
    colloquy: "The error says that the conversation is archived.",
    why: "`resumeConversation` with the path of its file loads it again.",
    proofs: [only("0.45.0", "conv_list_resume_archive", "23", "24")],
    explains: changed(/.*/, "error.message", (_, ours) => String(ours).includes("is archived")),
  },
  {
    key: "app-outside-path",
    original:
      "`resumeConversation` opens any path and responds with the error of the operating system; `archiveConversation` says that the path must be in the sessions directory.",
    colloquy:
      "A path outside the sessions directory is not opened, whether or not there is a file; the error names the member and the directory, also in `data.issues`.",
    why: "A client must not find out about other files, and a person must see what was expected.",
    proofs: [only("0.45.0", "conv_unknown_ids", "7", "8", "16")],
    explains: anyOf(
      changed(
        "response",
        "error.message",
        (original, ours) =>
          (String(original).startsWith("error resuming conversation: ") &&
            String(ours).startsWith(
              "error resuming conversation: path: expected the absolute path of a rollout file in /state/sessions; got ",
            )) ||
          (String(original).endsWith(" must be in sessions directory") &&
            String(ours).startsWith(
              `${String(original)}: rolloutPath: expected the absolute path of a rollout file in /state/sessions; got `,
            )),
      ),
      added("response", "error.data", (ours) =>
        text(ours).includes("expected the absolute path of a rollout file in /state/sessions"),
      ),
    ),
  },
]
