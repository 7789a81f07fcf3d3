/**
 * Finds the dialect of a method, to explain to a client that it speaks the wrong one. Loads all definitions, so it should be
 * imported only when needed.
 */
import { AppServer } from "./app/AppServer.ts"
import { CodexMcp } from "./mcp/CodexMcp.ts"
import { methodsOf } from "./Method.ts"

/** The dialect that a method belongs to. */
export interface Belonging {
  readonly dialect: string
  /** The command line that serves the dialect; absent when none does. */
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
 * The parts before the slash in the method names of app-server v2, which Colloquy does not speak. None of them occurs in
 * MCP. Methods of `account` and `model` that app-server v1 has are found there first.
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

/** The dialect, other than the one in use, whose clients send this method; undefined when none does. */
export const otherDialectOf = (method: string, spoken: string): Belonging | undefined => {
  const having = dialects.filter(({ has }) => has(method))
  return having.some(({ belonging }) => belonging.dialect === spoken)
    ? undefined
    : having[0]?.belonging
}
