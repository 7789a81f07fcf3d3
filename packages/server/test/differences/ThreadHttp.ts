/** Differences of the port of app-server v2. Its recording is replayed in packages/cli/test/http/HttpReplays.live.test.ts. */
import { type Difference, everywhere } from "./Difference.ts"
import { anyOf } from "./Explain.ts"
import { from, inPath } from "./ThreadExplain.ts"

const shown = (...requests: ReadonlyArray<string>) =>
  everywhere("0.169.0-transport", "app_ws_http", ...requests)

/** A member of the response, or all of them. */
const response = (label: RegExp, path = /./) =>
  inPath(label, new RegExp(`^params\\.(?:${path.source})`))

/** What describes a JSON body. */
const jsonHeaders = inPath(
  /./,
  /^params\.headers\.(?:content-type|cache-control)$/,
  (m) => m.ours === "application/json" || m.ours === "no-store",
)

export const threadHttp: ReadonlyArray<Difference> = [
  {
    key: "v2-http-listening",
    original: "A server that listens says so with its address on standard error.",
    colloquy: "It says so on standard output, as `Listening on ws://…`.",
    why: "The address is the result of the command; standard error has problems only.",
    proofs: [shown("listening")],
    explains: inPath(/^listening$/, /^params\.(?:stream|text)$/),
  },
  {
    key: "v2-http-token",
    original: "Every program of the machine is served unless an option asks for a token.",
    colloquy:
      'A token is created at the first start and needed; `http.authentication = "none"` serves every program of the machine.',
    why: "Who connects can run commands, and programs of other users are on the same machine.",
    proofs: [shown("upgrade / as installed")],
    explains: response(/as installed$/),
  },
  {
    key: "v2-http-host",
    original: "`Host` is not checked.",
    colloquy: "A request for another host is refused with 403.",
    why: "A web page can have a name of its own that leads to this machine.",
    proofs: [shown("upgrade with foreign Host")],
    explains: response(/foreign Host$/),
  },
  {
    key: "v2-http-health",
    original: "`/readyz` and `/healthz` have an empty body.",
    colloquy: "They have the status as JSON, which is not to be cached.",
    why: "A person who opens the address sees whether the server is starting or closing.",
    proofs: [shown("GET /readyz", "GET /healthz"), shown("upgrade /readyz")],
    explains: anyOf(
      inPath(
        /\/(?:readyz|healthz)$/,
        /^params\.body$/,
        (m) => m.original === "" && String(m.ours).startsWith('{"status":'),
      ),
      (m) => /\/(?:readyz|healthz)$/.test(m.label) && jsonHeaders(m),
    ),
  },
  {
    key: "v2-http-refusals",
    original: "A refused request has an empty body or a line of text.",
    colloquy:
      "It has JSON with a code, the reason and the header at fault, and 405 names the methods that are served.",
    why: "The developer of a client can correct it.",
    proofs: [shown("GET /readyz with Origin"), shown("POST /"), shown("upgrade with Origin null")],
    explains: anyOf(
      inPath(/^(?!.*as installed|.*foreign)/, /^params\.body$/, (m) =>
        String(m.ours).startsWith('{"code":"'),
      ),
      (m) => /Origin|^GET \/(?:other)?$|^POST/.test(m.label) && jsonHeaders(m),
      inPath(/^POST/, /^params\.headers\.allow$/),
    ),
  },
  {
    key: "v2-http-no-upgrade",
    original: "A request that asks for no WebSocket gets 400.",
    colloquy: "It gets 426 with `Upgrade: websocket`.",
    why: "That is the status of HTTP for it.",
    proofs: [shown("GET /", "GET /other")],
    explains: anyOf(
      inPath(/^GET \/(?:other)?$/, /^params\.status$/, from(400, 426)),
      inPath(/^GET \/(?:other)?$/, /^params\.headers\.(?:upgrade|connection)$/),
    ),
  },
  {
    key: "v2-http-closed",
    original: "The connection of a refused handshake stays open for another request.",
    colloquy: "It is closed.",
    why: "The client has no use for it.",
    proofs: [shown("upgrade with Origin null"), shown("upgrade /readyz")],
    explains: inPath(
      /^upgrade (?!\/ as|.*foreign|.*without key)/,
      /^params\.isOpen$/,
      from(true, false),
    ),
  },
  {
    key: "v2-http-handshake",
    original:
      "Only version 13 of the protocol is accepted; a handshake that is not valid gets its fault as plain text.",
    colloquy:
      "Version 8, which has the same frames, is accepted as well, and the fault is in the words of the library.",
    why: "The library speaks both.",
    proofs: [shown("upgrade version 8"), shown("upgrade without key")],
    explains: response(/^upgrade (?:version 8|without key)$/),
  },
  {
    key: "v2-http-subprotocol",
    original: "No subprotocol is agreed to.",
    colloquy: "The first that the client offers is.",
    why: "A browser closes a connection when it has offered some and the server agrees to none.",
    proofs: [shown("upgrade with subprotocol")],
    explains: inPath(/subprotocol$/, /^params\.headers\.sec-websocket-protocol$/),
  },
  {
    key: "v2-http-exit",
    original: "The process exits with 0 at SIGTERM.",
    colloquy: "It exits with 143.",
    why: "What has started it can tell a signal from an end of its own.",
    proofs: [shown("exit")],
    explains: inPath(/^exit$/, /^params\.code$/, from(0, 143)),
  },
]
