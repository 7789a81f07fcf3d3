/** A session of a server on a connection of its own. */
import * as Effect from "effect/Effect"
import * as Wire from "../Wire.ts"
import type { HttpProcess } from "./HttpProcess.ts"
import * as RawHttp from "./RawHttp.ts"

const versionHeader = { "mcp-protocol-version": "2025-11-25" }

/** An initialized session. */
export interface Session {
  readonly send: RawHttp.RawHttp["send"]
  /** The bytes of a POST in this session. */
  readonly post: (body: string) => Buffer
}

/** Initializes a session over the connection. Fails the measurement if the server does not respond as expected. */
export const initialize = Effect.fnUntraced(function* ({ send }: RawHttp.RawHttp) {
  const opened = yield* send(RawHttp.post(Wire.initialize))
  const id = RawHttp.headerOf(opened, "mcp-session-id")
  if (id === "") throw new Error(`no session: ${opened.text.slice(0, 300)}`)
  const headers = { ...versionHeader, "mcp-session-id": id }
  const post = (body: string) => RawHttp.post(body, headers)
  const { text } = yield* send(post(Wire.initialized))
  if (!text.startsWith("HTTP/1.1 202")) throw new Error(`not accepted: ${text.slice(0, 300)}`)
  return { send, post }
})

/** Opens a connection with a session. */
export const session = ({ port }: HttpProcess) => Effect.flatMap(RawHttp.open(port), initialize)
