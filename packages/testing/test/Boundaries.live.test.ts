import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { imports, type Module, read, scan } from "./SourceTree.ts"

const { modules, packages } = read(Fs)

/** Which room may import which. */
const arrows: Readonly<Record<string, ReadonlyArray<string> | "everything">> = {
  protocol: [],
  "json-schema": [],
  core: ["protocol", "json-schema"],
  config: ["protocol", "core"],
  models: ["protocol", "core"],
  tools: ["protocol", "core"],
  store: ["protocol", "core"],
  "store-sql": ["protocol", "core"],
  cluster: ["protocol", "core", "store-sql"],
  server: ["protocol", "json-schema", "core"],
  client: ["protocol"],
  "transport-stdio": ["protocol"],
  "transport-http": ["protocol", "server"],
  agent: [
    "protocol",
    "core",
    "models",
    "tools",
    "store",
    "server",
    "client",
    "testing",
    "simulation",
    "transport-stdio",
  ],
  testing: ["protocol", "core", "server", "client", "models", "store"],
  simulation: [
    "protocol",
    "json-schema",
    "core",
    "server",
    "client",
    "models",
    "store",
    "store-sql",
    "cluster",
    "testing",
  ],
  cli: "everything",
  bench: "everything",
  examples: "everything",
  docs: [],
}

/** Rooms that only the tests of an agent need: `agent` imports them in this folder and nowhere else. */
const forTests = ["client", "testing", "simulation"]
const agentTesting = "src/testing/"

/** Rooms that see of `core` its ports only, and the vocabulary of the ports. */
const portsOnly = ["config", "models", "tools", "store", "store-sql"]
const ports = [
  "AbsolutePath",
  "ConversationErrors",
  "ConversationSettings",
  "ConversationStore",
  "IdGenerator",
  "ModelClient",
  "QuotaPlaces",
  "StoreErrors",
  "ToolRuntime",
  "approvals/Approval",
  "approvals/Confinement",
  "decider/ApprovalBook",
  "decider/CompletedTurn",
  "LogRecord",
  "MetaSchema",
  "store/Preview",
  "store/Settings",
  "StoredSettings",
  "turn/Backoff",
  "turn/ModelFamily",
]

const isPlatformEdge = ({ room, file }: Module): boolean =>
  room === "cli" ||
  room === "bench" ||
  room === "examples" ||
  room.startsWith("transport-") ||
  file.startsWith("packages/store/src/node/") ||
  file.startsWith("packages/store-sql/src/node/") ||
  file.startsWith("packages/cluster/src/node/") ||
  file === "packages/testing/src/MockProvider.ts" ||
  file === "packages/testing/src/PostgresServer.ts" ||
  file === "packages/simulation/src/main.ts" ||
  file === "packages/simulation/src/nodes/SqliteDatabase.ts" ||
  file === "packages/agent/src/internal/MachineTools.ts" ||
  file === "packages/tools/src/process/ProcessGroup.ts" ||
  file === "packages/tools/src/patch/PatchProgram.ts" ||
  file === "packages/tools/src/sandbox/NodeFiles.ts"

const relativeFault = (from: Module, specifier: string): string | undefined => {
  const target = Path.posix.join(Path.posix.dirname(from.path), specifier)
  if (target.startsWith("..")) return "leaves the package"
  return specifier.endsWith(".ts") ? undefined : "has no .ts ending"
}

const roomFault = (from: Module, room: string, module: string): string | undefined => {
  const allowed = arrows[from.room]
  if (allowed === undefined) return `comes from the unknown room ${from.room}`
  if (room === from.room) return "names its own package, use a relative path"
  if (allowed !== "everything" && !allowed.includes(room)) {
    return `is an arrow ${from.room} → ${room}, allowed are: ${allowed.join(", ")}`
  }
  if (from.room === "agent" && forTests.includes(room) && !from.path.startsWith(agentTesting)) {
    return `is an arrow agent → ${room}, allowed in ${agentTesting}`
  }
  if (module === "") return "is a barrel"
  if (module.startsWith("internal/")) return "is internal"
  return room === "core" && portsOnly.includes(from.room) && !ports.includes(module)
    ? "is no port of core"
    : undefined
}

const externalFault = (
  specifier: string,
  dependencies: ReadonlyArray<string>,
): string | undefined => {
  const [first = "", second = "", ...deeper] = specifier.split("/")
  const name = first.startsWith("@") ? `${first}/${second}` : first
  const subpath = (first.startsWith("@") ? deeper : [second, ...deeper]).filter((s) => s !== "")
  if (!dependencies.includes(name)) return "is no dependency of the package"
  const isEffect = name === "effect" || first === "@effect"
  if (isEffect && subpath.length === 0) return "is a root, import a module of it"
  // Modules are PascalCase, folders are not: `effect/rpc` loads all of them.
  const isFolder = subpath.length === 1 && /^[a-z]/.test(subpath[0] ?? "")
  return isEffect && isFolder ? "is a barrel, import a module of it" : undefined
}

const importFault = (
  from: Module,
  specifier: string,
  dependencies: ReadonlyArray<string>,
): string | undefined => {
  if (specifier.startsWith(".")) return relativeFault(from, specifier)
  if (specifier.startsWith("node:")) {
    return isPlatformEdge(from) ? undefined : "is a platform module outside the platform edge"
  }
  const room = /^(?:@colloquy\/([^/]+)|(colloquy))(?:\/(.*))?$/.exec(specifier)
  if (room !== null) return roomFault(from, room[1] ?? "cli", room[3] ?? "")
  return externalFault(specifier, dependencies)
}

const faultsOf = (module: Module, dependencies: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { code } = scan(module.source)
  const defaults = /^export\s+default\b|^export\b[^;=()]*\bas\s+default\b/m.test(code)
    ? [`${module.file}: a default export`]
    : []
  return imports(module.source)
    .flatMap((specifier) => {
      const fault = importFault(module, specifier, dependencies)
      return fault === undefined ? [] : [`${module.file}: "${specifier}" ${fault}`]
    })
    .concat(defaults)
}

const module = (room: string, source: string, path = "src/a/B.ts"): Module => ({
  room,
  path,
  file: `packages/${room}/${path}`,
  source,
})

describe("Boundaries", () => {
  it("every import of every module follows the packages and their directions", () => {
    const dependencies = new Map(packages.map((p) => [p.room, p.dependencies]))
    assert.deepStrictEqual(
      modules.flatMap((m) => faultsOf(m, dependencies.get(m.room) ?? [])),
      [],
    )
  })

  it("every package is listed with its directions", () => {
    assert.deepStrictEqual(
      packages.map(({ room }) => room).filter((room) => arrows[room] === undefined),
      [],
    )
  })

  const faulty: ReadonlyArray<readonly [room: string, source: string, fault: string]> = [
    ["protocol", `import { a } from "@colloquy/core/Turn"`, "protocol → core"],
    ["client", `import type { a } from "@colloquy/server/jsonrpc/Peer"`, "client → server"],
    ["core", `const a = await import("@colloquy/models/Models")`, "core → models"],
    ["core", `export * as A from "@colloquy/testing/A"`, "core → testing"],
    ["server", `import "colloquy/main"`, "server → cli"],
    ["server", `import {\n  a,\n  b,\n} from "@colloquy/client/Client"`, "server → client"],
    ["agent", `import * as A from "@colloquy/testing/A"`, "allowed in src/testing/"],
    ["models", `import * as A from "@colloquy/core/Turn"`, "no port"],
    ["client", `import * as A from "@colloquy/protocol"`, "barrel"],
    ["testing", `import * as A from "@colloquy/client/internal/A"`, "internal"],
    ["core", `import * as A from "@colloquy/core/Turn"`, "its own package"],
    ["nowhere", `import * as A from "@colloquy/core/Turn"`, "unknown room"],
    ["core", `import { Effect } from "effect"`, "root"],
    ["core", `import { Rpc } from "effect/rpc"`, "barrel"],
    ["core", `import { NodeRuntime } from "@effect/platform-node"`, "root"],
    ["core", `import * as A from "left-pad"`, "no dependency"],
    ["core", `import * as A from "../../../protocol/src/Ids.ts"`, "leaves the package"],
    ["core", `import * as A from "./A"`, "no .ts ending"],
    ["core", `import * as A from "node:fs"`, "platform module"],
    ["core", `export default 1`, "default export"],
    ["core", `const a = 1\nexport { a as default }`, "default export"],
  ]
  for (const [room, source, fault] of faulty) {
    it(`reports a violation: ${room}: ${source}`, () => {
      const faults = faultsOf(module(room, source), ["effect", "@effect/platform-node"])
      assert.strictEqual(faults.length, 1, faults.join("\n"))
      assert.include(faults[0], fault)
    })
  }

  it("accepts what follows the rules, and does not read comments and texts", () => {
    const source = [
      `import * as Effect from "effect/Effect"`,
      `import * as Rpc from "effect/rpc/Rpc"`,
      `import * as NodeRuntime from "@effect/platform-node/NodeRuntime"`,
      `import type { Turn } from "@colloquy/core/Turn"`,
      `import { a } from "../A.ts"`,
      `// import { Effect } from "effect"`,
      `/**`,
      ` import { Effect } from "effect"`,
      `*/`,
      `const text = "/* no comment"`,
      `const pattern = /["'\`/*]/`,
      `const template = \`a \${f({ a: "}" })} // "b" \${\`\${1}\`}\``,
    ].join("\n")
    assert.deepStrictEqual(
      faultsOf(module("server", source), ["effect", "@effect/platform-node"]),
      [],
    )
    assert.deepStrictEqual(imports(source).length, 5)
  })
})
