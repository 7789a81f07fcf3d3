/** The dialects of this package by the methods that their clients send. Loads all definitions: import it when it is needed. */
import { AppServer } from "./app/AppServer.ts"
import { CodexMcp } from "./mcp/CodexMcp.ts"
import { methodsOf } from "./Method.ts"

/** The dialect that a method belongs to. */
export interface Belonging {
  readonly dialect: string
  /** The command that serves the dialect; absent where none does. */
  readonly command?: string
}

interface Known {
  readonly belonging: Belonging
  readonly has: (method: string) => boolean
}

const known = (
  { command, name: dialect }: { readonly name: string; readonly command?: string },
  methods: ReadonlyMap<string, unknown>,
): Known => ({
  belonging: command === undefined ? { dialect } : { dialect, command },
  has: (method) => methods.has(method),
})

/**
 * The first parts of the names of its requests. Nothing here defines it, and none of these is the first part of a name in
 * MCP; the requests of `account` and `model` that app-server has as well are found there first.
 */
const namespacesOfV2: ReadonlySet<string> = new Set([
  "account",
  "app",
  "collaborationMode",
  "command",
  "config",
  "configRequirements",
  "experimentalFeature",
  "externalAgentConfig",
  "feedback",
  "fs",
  "hooks",
  "marketplace",
  "mcpServer",
  "mcpServerStatus",
  "memory",
  "model",
  "permissionProfile",
  "plugin",
  "process",
  "review",
  "skills",
  "thread",
  "turn",
  "windowsSandbox",
])

const appServerV2: Known = {
  belonging: { dialect: "app-server v2" },
  has: (method) => {
    const [namespace, ...rest] = method.split("/")
    return (
      namespace !== undefined &&
      namespacesOfV2.has(namespace) &&
      rest.length > 0 &&
      rest.every((part) => part !== "")
    )
  },
}

const dialects: ReadonlyArray<Known> = [
  known(CodexMcp, methodsOf(CodexMcp.clientToServer)),
  known(AppServer, methodsOf(AppServer.clientToServer)),
  appServerV2,
]

/** The dialect, other than the one that is spoken, whose clients send requests or notifications of that name. */
export const otherDialectOf = (method: string, spoken: string): Belonging | undefined => {
  const having = dialects.filter(({ has }) => has(method))
  return having.some(({ belonging }) => belonging.dialect === spoken)
    ? undefined
    : having[0]?.belonging
}
