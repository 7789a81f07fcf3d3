/**
 * The command `app-server`: serves conversations over plain JSON-RPC on stdin and stdout until the client disconnects.
 * Answers `initialize` before it loads the server, because the client waits for that.
 */
import * as EarlyAppHandshake from "@colloquy/server/EarlyAppHandshake"
import * as Effect from "effect/Effect"
import type { Launch } from "../args/Args.ts"
import * as StdioServer from "../server/StdioServer.ts"
import { serverIdentity } from "../server/ServerIdentity.ts"
import { userAgent } from "../server/UserAgent.ts"
import { withoutStacks } from "../WithoutStacks.ts"

const serve: StdioServer.Serve = (connection, serving) => {
  const {
    environment: { stateDirectory },
    startup: { options },
  } = serving
  return Effect.gen(function* () {
    const opened = yield* EarlyAppHandshake.open(connection, {
      userAgent: userAgent(process.env, options.compatibility_version),
      identity: serverIdentity(stateDirectory),
    })
    const server = yield* Effect.promise(() =>
      withoutStacks(() => import("../server/ServeAppServer.ts")),
    )
    yield* server.serve(opened, serving)
  })
}

/** Resolves with the exit code if the server could not start; otherwise the process ends. */
export const run = (launch: Launch): Promise<number> => StdioServer.run(serve, launch)
