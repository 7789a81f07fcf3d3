/** Serves MCP, and the requests of the app-server beside it, with everything that a request after \`initialize\` needs. */
import { CodexMcp } from "@colloquy/protocol/mcp/CodexMcp"
import type { Opened } from "@colloquy/server/EarlyHandshake"
import { withLazyDialect } from "@colloquy/server/LazyDialect"
import * as McpServer from "@colloquy/server/McpServer"
import * as Effect from "effect/Effect"
import * as Application from "../Application.ts"
import { preload } from "../lazy/Preload.ts"
import { findDialect } from "./FindDialect.ts"
import type { Serving } from "./StdioServer.ts"
import { userAgent } from "./UserAgent.ts"
import { statedVersion } from "./Version.ts"

const appServer = (compatibility: string | undefined) =>
  Effect.flatMap(
    Effect.promise(() => import("@colloquy/server/AppServer")),
    ({ beside }) => beside({ userAgent: userAgent(process.env, compatibility) }),
  )

const ofDialect = findDialect(CodexMcp.name)

/** Serves the connection until its end. */
export const serve = (
  { connection, initializeParams }: Opened,
  serving: Serving,
): Effect.Effect<void> => {
  const {
    compatibility_version: compatibility,
    mcp_events: events,
    mcp_task_after_ms: taskAfterMs,
    mcp_thread_id: threadId,
    mcp_tools: tools,
    shutdown_grace_ms: graceMs,
  } = serving.startup.options
  const dialects = withLazyDialect(appServer(compatibility), ofDialect)
  const served = Effect.flatMap(dialects, (beside) =>
    McpServer.serve(connection, {
      version: statedVersion(compatibility),
      beside,
      findDialect: ofDialect,
      ...(initializeParams === undefined ? {} : { initializeParams }),
      ...(graceMs === undefined ? {} : { shutdownGrace: graceMs }),
      ...(events === undefined ? {} : { events }),
      ...(taskAfterMs === undefined ? {} : { taskAfter: taskAfterMs }),
      ...(threadId === undefined ? {} : { threadId }),
      ...(tools === undefined ? {} : { ownTools: tools }),
    }),
  )
  return Effect.scoped(Effect.andThen(Effect.forkScoped(preload), served)).pipe(
    Application.provided({ originator: "colloquy_mcp", source: "mcp" }, serving),
  )
}
