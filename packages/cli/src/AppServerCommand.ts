/** The command `app-server`: serves conversations over plain JSON-RPC on stdin and stdout until the client has left. */
import * as AppServer from "@colloquy/server/AppServer"
import * as Effect from "effect/Effect"
import * as LazyPorts from "./app/LazyPorts.ts"
import * as StdioServer from "./StdioServer.ts"
import { userAgent } from "./UserAgent.ts"

export const run = (overrides: ReadonlyArray<string>): Promise<number> =>
  StdioServer.run(
    {
      program: { originator: "colloquy_app_server", source: "vscode" },
      serve: (connection, startup, environment) => {
        const graceMs = startup.options.shutdown_grace_ms
        return AppServer.serve(connection, {
          userAgent: userAgent(process.env),
          ...(graceMs === undefined ? {} : { shutdownGrace: graceMs }),
        }).pipe(Effect.provide(LazyPorts.layer(startup, environment)))
      },
    },
    overrides,
  )
