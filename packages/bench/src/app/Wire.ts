/** The messages of `app-server` that the benchmarks send and read, without the codecs, so that only the server is measured. */
import { NewConversation } from "@colloquy/protocol/app/Conversations"
import { Initialize } from "@colloquy/protocol/app/Session"
import { requestText } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as LineProcess from "../LineProcess.ts"

/** Starts the server and initializes the connection. */
export const begin = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
): Effect.Effect<LineProcess.LineProcess, never, Scope.Scope> =>
  Effect.tap(LineProcess.make({ args, env }), (server) =>
    server.call(
      requestText(0, Initialize._tag, { clientInfo: { name: "colloquy-bench", version: "0.0.0" } }),
    ),
  )

/** Creates a conversation and returns its id. */
export const newConversation = (server: LineProcess.LineProcess): Effect.Effect<string> =>
  Effect.map(server.call(requestText(1, NewConversation._tag, {})), ({ chunks }) => {
    const line = Buffer.concat(chunks).toString("utf8").trimEnd().split("\n").at(-1) ?? ""
    const { result } = JSON.parse(line) as { readonly result?: { readonly conversationId: string } }
    if (result === undefined) throw new Error(`no conversation was made: ${line.slice(0, 300)}`)
    return result.conversationId
  })
