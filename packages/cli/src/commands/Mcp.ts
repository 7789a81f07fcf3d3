/**
 * The command `mcp`: serves the Model Context Protocol, and also the requests of the app-server, on stdin and stdout until
 * the client disconnects. Answers `initialize` before it loads the server, because the client waits for that.
 */
import * as EarlyHandshake from "@colloquy/server/EarlyHandshake"
import * as Effect from "effect/Effect"
import { withoutStacks } from "../WithoutStacks.ts"
import * as StdioServer from "../server/StdioServer.ts"
import { statedVersion } from "../server/Version.ts"
import type { Launch } from "../args/Args.ts"

const serve: StdioServer.Serve = (connection, serving) => {
  const { compatibility_version: compatibility, mcp_events: events } = serving.startup.options
  return Effect.gen(function* () {
    const opened = yield* EarlyHandshake.open(connection, {
      version: statedVersion(compatibility),
      ...(events === undefined ? {} : { events }),
    })
    const server = yield* Effect.promise(() => withoutStacks(() => import("../server/ServeMcp.ts")))
    yield* server.serve(opened, serving)
  })
}

/** Resolves with the exit code if the server could not start; otherwise the process ends. */
export const run = (launch: Launch): Promise<number> => StdioServer.run(serve, launch)
