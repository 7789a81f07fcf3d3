/** Differences of `initialize`, `tools/list` and of messages that are not requests for a tool. */
import type { WireMessage } from "../support/Wire.ts"
import { type Difference, everywhere, only } from "./Difference.ts"
import {
  added,
  anyOf,
  changed,
  equals,
  errorAdded,
  isString,
  missing,
  resultText,
  same,
} from "./Explain.ts"

export const conversationTools = [
  "conversationCreate",
  "conversationSendMessage",
  "conversationStream",
  "conversationsList",
  "conversationInterrupt",
  "conversationStatus",
  "conversationWait",
  "conversationFork",
  "conversationRemove",
]

/** The response of a server without conversations and prompts: empty lists, the two templates, or `{}`. */
const isListOrEmpty = (result: Readonly<Record<string, unknown>>) => {
  const [name, ...others] = Object.keys(result)
  if (name === undefined) return true
  const items = result[name]
  return (
    others.length === 0 &&
    Array.isArray(items) &&
    items.length === (name === "resourceTemplates" ? 2 : 0)
  )
}

export const mcpHandshake: ReadonlyArray<Difference> = [
  {
    key: "server-identity",
    original: "`initialize` responds with the server name `codex-mcp-server`.",
    colloquy:
      "`initialize` responds with the server name `colloquy` and the version `0.153.4+colloquy.x.y.z`: the compatible version, then its own.",
    why: "A client can see which server it is connected to.",
    proofs: [everywhere("0.29.0", "handshake", "1"), everywhere("0.153.4", "handshake", "1")],
    explains: anyOf(
      changed("response", "result.serverInfo.name", (_, ours) => ours === "colloquy"),
      changed("response", "result.serverInfo.title", (_, ours) => ours === "Colloquy"),
      changed("response", "result.serverInfo.version", (_, ours) =>
        /^(1\.2\.3$|0\.153\.4\+colloquy\.)/.test(String(ours)),
      ),
    ),
  },
  {
    key: "event-capability",
    original: "`initialize` does not declare that the server sends `codex/event` notifications.",
    colloquy: "`initialize` lists `codex/event` under the experimental capabilities.",
    why: "A client can detect the events without comparing server names.",
    proofs: [everywhere("0.29.0", "handshake", "1"), everywhere("0.153.4", "handshake", "1")],
    explains: added("response", "result.capabilities.experimental", equals({ "codex/event": {} })),
  },
  {
    key: "more-capabilities",
    original: "`initialize` declares only the capability `tools`.",
    colloquy: "`initialize` also declares `resources`, `prompts`, `completions` and `logging`.",
    why: "Colloquy implements them.",
    proofs: [everywhere("0.29.0", "handshake", "1"), everywhere("0.153.4", "handshake", "1")],
    explains: anyOf(
      added(
        "response",
        "result.capabilities.resources",
        equals({ subscribe: true, listChanged: true }),
      ),
      added("response", "result.capabilities.prompts", equals({ listChanged: true })),
      added("response", /^result\.capabilities\.(completions|logging)$/, equals({})),
    ),
  },
  {
    key: "more-methods",
    original: "Requests for resources, prompts, completion and the log level never get a response.",
    colloquy: "They get a response.",
    why: "A client that gets no response waits for ever.",
    proofs: ["0.29.0", "0.153.4"].map((version) =>
      only(version as "0.29.0", "handshake", "6", "7", "8", "9", "10", "11", "12", "13"),
    ),
    explains: added("response", "", (ours) => {
      const { error, result } = ours as WireMessage
      return result === undefined
        ? [-32002, -32602].includes(error?.code ?? 0)
        : isListOrEmpty(result)
    }),
  },
  {
    key: "bad-cursor",
    original: "`tools/list` ignores an unknown `cursor` and returns the first page again.",
    colloquy: "The request gets the error -32602, which names `params.cursor`.",
    why: "The Model Context Protocol asks for it; a client could request the same page for ever.",
    proofs: [only("0.29.0", "handshake", "4"), only("0.153.4", "handshake", "4")],
    explains: anyOf(
      missing("response", "result"),
      added("response", "error", (ours) => {
        const { code, message } = ours as NonNullable<WireMessage["error"]>
        return code === -32602 && message.includes("params.cursor")
      }),
    ),
  },
  {
    key: "newer-arguments",
    original: "`codex` accepts only the arguments of 0.29.",
    colloquy:
      "`codex` also accepts `developer-instructions` and `compact-prompt` of later versions.",
    why: "One server serves the clients of every version.",
    proofs: [everywhere("0.29.0", "handshake", "3")],
    explains: added(
      "response",
      /^result\.tools\.0\.inputSchema\.properties\.(developer-instructions|compact-prompt)$/,
      isString,
    ),
  },
  {
    key: "reply-keys",
    original: "`codex-reply` accepts the conversation id only as `sessionId`.",
    colloquy: "`codex-reply` accepts it as `threadId`, `conversationId` or `sessionId`.",
    why: "The name changed twice, and one server serves the clients of every version.",
    proofs: [everywhere("0.29.0", "handshake", "3")],
    explains: anyOf(
      added(
        "response",
        /^result\.tools\.1\.inputSchema\.properties\.(threadId|conversationId)$/,
        isString,
      ),
      changed("response", "result.tools.1.inputSchema.required", (original, ours) =>
        same([original, ours], [["prompt", "sessionId"], ["prompt"]]),
      ),
    ),
  },
  {
    key: "while-running",
    original: "`codex-reply` has no argument for a conversation whose turn is still running.",
    colloquy:
      "`codex-reply` has the argument `while-running`: the call waits, joins the running turn, interrupts it or is rejected.",
    why: "The client decides what a second message does.",
    proofs: [everywhere("0.29.0", "handshake", "3"), everywhere("0.153.4", "handshake", "3")],
    explains: added("response", "result.tools.1.inputSchema.properties.while-running", isString),
  },
  {
    key: "closed-arguments",
    original:
      "The input schemas do not say whether unknown arguments are allowed (0.153.4: that of `codex-reply`).",
    colloquy: "The input schemas do not allow unknown arguments.",
    why: "A client can detect a misspelt argument before it sends the call.",
    proofs: [everywhere("0.29.0", "handshake", "3"), everywhere("0.153.4", "handshake", "3")],
    explains: added(
      "response",
      /^result\.tools\.[01]\.inputSchema\.additionalProperties$/,
      equals(false),
    ),
  },
  {
    key: "open-config",
    original: "The schema of `config` has `additionalProperties: true`.",
    colloquy: "The schema of `config` omits it, which means the same in JSON Schema.",
    why: "The schema is derived from the definition that decodes the arguments.",
    proofs: [everywhere("0.29.0", "handshake", "3"), everywhere("0.153.4", "handshake", "3")],
    explains: missing(
      "response",
      "result.tools.0.inputSchema.properties.config.additionalProperties",
      equals(true),
    ),
  },
  {
    key: "output-schema",
    original: "The tools have no output schema.",
    colloquy: "The tools have an output schema with `threadId`, `conversationId` and `content`.",
    why: "A client can rely on the shape of the structured result.",
    proofs: [everywhere("0.29.0", "handshake", "3")],
    explains: added("response", /^result\.tools\.[01]\.outputSchema$/, (ours) =>
      same(Object.keys((ours as { readonly properties: object }).properties), [
        "threadId",
        "conversationId",
        "content",
      ]),
    ),
  },
  {
    key: "unknown-method",
    original: "A request with an unknown method never gets a response.",
    colloquy: "A request with an unknown method gets the error -32601.",
    why: "A client that gets no response waits for ever.",
    proofs: [only("0.29.0", "handshake", "14")],
    explains: errorAdded(-32601),
  },
  {
    key: "bad-params",
    original: "A request whose parameters cannot be decoded never gets a response.",
    colloquy: "The request gets the error -32602, which names each faulty member.",
    why: "A client that gets no response waits for ever.",
    proofs: [only("0.29.0", "handshake", "16", "17")],
    explains: errorAdded(-32602),
  },
  {
    key: "bad-message",
    original: "A line that is not a JSON-RPC message is dropped without a response.",
    colloquy:
      "The line gets the error -32700 or -32600, with the id of the request if it can be read.",
    why: "JSON-RPC asks for it, and the developer of a client needs the error.",
    proofs: ["0.29.0", "0.153.4"].map((version) =>
      only(version as "0.29.0", "malformed", "null", "86"),
    ),
    explains: errorAdded(-32700, -32600),
  },
  {
    key: "byte-order-mark",
    original: "A line that begins with a byte order mark is dropped without a response.",
    colloquy: "A byte order mark at the beginning of a line is skipped.",
    why: "Some platforms write one by default.",
    proofs: [only("0.29.0", "malformed", "88"), only("0.153.4", "malformed", "88")],
    explains: added("response", "", equals({ jsonrpc: "2.0", id: 88, result: {} })),
  },
  {
    key: "arguments-shape",
    original: "The error for arguments that are not an object names an internal type.",
    colloquy: "The error says that a map of arguments for that tool was expected.",
    why: "A caller does not know the internal type.",
    proofs: [only("0.29.0", "malformed", "84")],
    explains: changed(
      "response",
      resultText,
      (original, ours) =>
        String(original).endsWith(", expected struct CodexToolCallParam") &&
        ours ===
          String(original).replace("struct CodexToolCallParam", "a map of arguments for `codex`"),
    ),
  },
]
