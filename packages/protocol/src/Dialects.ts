/**
 * Finds the dialect of a method, to explain to a client that it speaks the wrong one. Loads all definitions, so it should be
 * imported only when needed.
 */
import type * as Rpc from "effect/rpc/Rpc"
import { AppServer } from "./app/AppServer.ts"
import { CodexMcp } from "./mcp/CodexMcp.ts"
import { type Dialect, methodsOf } from "./Method.ts"
import { AppServerV2 } from "./thread/AppServerV2.ts"
import { unsupportedReason } from "./thread/Unsupported.ts"

/** The dialect that a method belongs to. */
export interface Belonging {
  readonly dialect: string
  /** The command line that serves the method; absent when none does. */
  readonly command?: string
  /** Why no command serves this method of a dialect that is served otherwise. */
  readonly reason?: string
}

type Find = (method: string) => Belonging | undefined

const found = <C extends Rpc.Any, S extends Rpc.Any>({
  clientToServer,
  command,
  name: dialect,
}: Dialect<C, S>): Find => {
  const methods = methodsOf(clientToServer)
  const belonging = command === undefined ? { dialect } : { dialect, command }
  return (method) => (methods.has(method) ? belonging : undefined)
}

/** A method of the original's app-server v2 that this program does not have. */
const unsupported: Find = (method) => {
  const reason = unsupportedReason(method)
  return reason === undefined ? undefined : { dialect: AppServerV2.name, reason }
}

const finds: ReadonlyArray<Find> = [
  found(CodexMcp),
  found(AppServer),
  found(AppServerV2),
  unsupported,
]

/**
 * The dialect, other than the one in use, whose clients send this method; undefined when none does. A method that is not
 * supported belongs to another dialect than any that is in use.
 */
export const otherDialectOf = (method: string, spoken: string): Belonging | undefined => {
  const having = finds.flatMap((find) => find(method) ?? [])
  return having.some(({ dialect, reason }) => dialect === spoken && reason === undefined)
    ? undefined
    : having[0]
}
