/** The options of the app-server that the configuration sets. */
import { AppServer } from "@colloquy/protocol/app/AppServer"
import type { AppServerOptions } from "@colloquy/server/AppServer"
import { findDialect } from "./FindDialect.ts"
import type { Started } from "./Started.ts"
import { serverIdentity } from "./ServerIdentity.ts"
import { userAgent } from "./UserAgent.ts"

/** @param started the start of the serving process */
export const appServerOptions = ({
  environment: { stateDirectory },
  startup: { options },
}: Pick<Started, "startup" | "environment">): AppServerOptions => ({
  userAgent: userAgent(process.env, options.compatibility_version),
  identity: serverIdentity(stateDirectory),
  findDialect: findDialect(AppServer.name),
  ...(options.shutdown_grace_ms === undefined ? {} : { shutdownGrace: options.shutdown_grace_ms }),
})
