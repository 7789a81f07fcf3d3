/** Serves MCP, and the requests of the app-server beside it, with everything that a request after \`initialize\` needs. */
import { CodexMcp } from "@colloquy/protocol/mcp/CodexMcp"
import type { Auth } from "@colloquy/server/app/ports/AuthPort"
import type { HostPort } from "@colloquy/server/app/ports/HostPort"
import type { UserConfig } from "@colloquy/server/app/ports/UserConfigPort"
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

type Beside = Auth | HostPort | UserConfig

const appServer = (compatibility: string | undefined) =>
  Effect.flatMap(
    Effect.promise(() => import("@colloquy/server/AppServer")),
    ({ beside }) => beside({ userAgent: userAgent(process.env, compatibility) }),
  )

const ofDialect = findDialect(CodexMcp.name)

/** The options of MCP that the configuration sets, and the requests of the app-server beside it. */
export const mcpOptions = ({
  startup: { options },
}: Pick<Serving, "startup">): Effect.Effect<McpServer.McpServerOptions, never, Beside> => {
  const {
    compatibility_version: compatibility,
    mcp_events: events,
    mcp_task_after_ms: taskAfterMs,
    mcp_thread_id: threadId,
    mcp_tools: tools,
    shutdown_grace_ms: graceMs,
  } = options
  return Effect.map(withLazyDialect(appServer(compatibility), ofDialect), (beside) => ({
    version: statedVersion(compatibility),
    beside,
    findDialect: ofDialect,
    ...(graceMs === undefined ? {} : { shutdownGrace: graceMs }),
    ...(events === undefined ? {} : { events }),
    ...(taskAfterMs === undefined ? {} : { taskAfter: taskAfterMs }),
    ...(threadId === undefined ? {} : { threadId }),
    ...(tools === undefined ? {} : { ownTools: tools }),
  }))
}

/** Serves the connection until its end. */
export const serve = (
  { connection, initializeParams }: Opened,
  serving: Serving,
): Effect.Effect<void> => {
  const served = Effect.flatMap(mcpOptions(serving), (options) =>
    McpServer.serve(connection, {
      ...options,
      endsConversations: true,
      ...(initializeParams === undefined ? {} : { initializeParams }),
    }),
  )
  return Effect.scoped(Effect.andThen(Effect.forkScoped(preload), served)).pipe(
    Application.provided({ originator: "colloquy_mcp", source: "mcp" }, serving),
  )
}
