import { isBuiltin } from "node:module"
import { defineConfig, type Plugin } from "rolldown"
import { eagerStart } from "./bundle/EagerStart.ts"
import { loadChunks } from "./bundle/LoadChunks.ts"

/** One letter beyond Latin 1 and V8 keeps every letter of a file in two bytes. */
const escapeLetters: Plugin = {
  name: "escape-letters",
  generateBundle: (_options, bundle) => {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== "chunk") continue
      chunk.code = chunk.code.replace(
        // eslint-disable-next-line no-control-regex
        /[^\0-\x7f]/g,
        (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
      )
    }
  },
}

/** One import, such as `import"a";import b from"a";import*as c from"a";import d,{e as f}from"a";`. */
const importStatement =
  /\bimport\s*(?:(?:([\w$]+)|\*\s*as ([\w$]+))?\s*,?\s*(?:\{([^}]*)\})?\s*from\s*)?"([\w:/]+)";?/g

/**
 * The same names from `getBuiltinModule`. `import` reads every member of a module of Node, and reading some loads what
 * the program never uses: the members of `node:http` load all of `fetch`, which takes longer than everything else that
 * a first conversation loads.
 */
const getBuiltins: Plugin = {
  name: "get-builtins",
  generateBundle: (_options, bundle) => {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== "chunk" || !chunk.imports.some(isBuiltin)) continue
      chunk.code = chunk.code.replace(
        importStatement,
        (statement, byDefault?: string, all?: string, names?: string, from = "") => {
          if (!isBuiltin(from)) return statement
          const members = names === undefined ? undefined : `{${names.replaceAll(" as ", ":")}}`
          const bound = [byDefault, all, members].filter((one) => one !== undefined)
          const source = `process.getBuiltinModule("${from}")`
          return bound.map((one) => `const ${one}=${source};`).join("")
        },
      )
    }
  },
}

/** The functions of modules of Node that most sessions never call. They are loaded at their first call. */
const lateFunctions: Readonly<Record<string, ReadonlyArray<string>>> = {
  "node:crypto": [
    "createHash",
    "createHmac",
    "hash",
    "pbkdf2Sync",
    "randomBytes",
    "randomUUID",
    "timingSafeEqual",
  ],
  "node:child_process": ["execFile", "spawn"],
}

const latePrefix = "\0late:"

const lateModules: Plugin = {
  name: "late-modules",
  // Other packages may read more than the functions, such as their variants for promises.
  resolveId: (source, importer = "") =>
    source in lateFunctions && /\/(packages|@effect)\//.test(importer)
      ? `${latePrefix}${source}`
      : null,
  load: (id) => {
    if (!id.startsWith(latePrefix)) return null
    const source = id.slice(latePrefix.length)
    return (lateFunctions[source] ?? [])
      .map(
        (name) =>
          `export const ${name}=(...args)=>process.getBuiltinModule("${source}").${name}(...args);`,
      )
      .join("\n")
  },
}

/** Chunks in the order in which a process loads them, each with the modules that are its entries. */
const chunks = [
  // Everything that is read before a client of `mcp` gets its first response, the parsing of the command line included.
  { name: "start", entries: ["cli/src/commands/Mcp.ts", "cli/src/args/Addresses.ts"] },
  // What a client of `app-server` needs besides for its first response.
  { name: "app", entries: ["cli/src/commands/AppServerCommand.ts"] },
  // What a request after `initialize` needs.
  { name: "serve", entries: ["cli/src/server/ServeMcp.ts"] },
  // What a stored conversation needs.
  {
    name: "conversations",
    entries: ["core/src/manager/Conversations.ts", "store/src/node/NodeStore.ts"],
  },
  // What a turn needs besides.
  {
    name: "turn",
    entries: [
      "cli/src/machine/MachineDocs.ts",
      "cli/src/machine/MachineTools.ts",
      "cli/src/machine/MachinePrograms.ts",
      "models/src/ModelRouter.ts",
      "cli/src/machine/HttpModels.ts",
    ],
  },
]

/** True for the functions that the bundler adds. */
const isRuntime = (id: string): boolean => id.startsWith("\0rolldown")

/** Remembers what each module imports statically, and puts modules into the groups of `chunks`. */
class Groups {
  private readonly imports = new Map<string, ReadonlyArray<string>>()
  private readonly closures = new Map<string, ReadonlySet<string>>()

  readonly remember: Plugin = {
    name: "remember-imports",
    moduleParsed: (info) => {
      this.imports.set(info.id, info.importedIds)
    },
  }

  // One file in place of some forty: each is found, read and linked by itself while a client waits.
  readonly all = chunks.map(({ entries, name }, index) => ({
    name,
    priority: chunks.length - index,
    test: (id: string) =>
      (index === 0 && isRuntime(id)) || entries.some((entry) => this.isIn(entry, id)),
  }))

  private isIn(entry: string, id: string): boolean {
    const closure = this.closures.get(entry) ?? this.closureOf(entry)
    this.closures.set(entry, closure)
    return closure.has(id)
  }

  /** The modules that an entry imports statically, whatever imports them, and the entry. */
  private closureOf(entry: string): ReadonlySet<string> {
    const closure = new Set<string>()
    const left = [...this.imports.keys()].filter((one) => one.endsWith(`packages/${entry}`))
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (closure.has(next)) continue
      closure.add(next)
      left.push(...(this.imports.get(next) ?? []))
    }
    return closure
  }
}

/** The commands beside those over standard streams. */
const otherCommands = ["ConfigCommand", "DemoCommand", "Doctor", "GenerateCommand", "ServeCommand"]

const entryOf = (command: string): string => `others-${command}`

/**
 * Leaves the other commands to a build of their own. A module is one piece of one chunk: what only `serve` calls of a module
 * of Effect would be compiled by every process that speaks over standard streams, before its first response.
 */
const leaveOthers: Plugin = {
  name: "leave-other-commands",
  resolveId: (source) => {
    const name = /^\.\/commands\/(\w+)\.ts$/.exec(source)?.[1] ?? ""
    return otherCommands.includes(name) ? { id: `./${entryOf(name)}.mjs`, external: true } : null
  },
}

/** A build into the one folder of the program: its modules find the files of the package from there. */
const buildOf = (
  input: Readonly<Record<string, string>>,
  plugins: { readonly first: Array<Plugin>; readonly last: Array<Plugin> },
  output: { readonly chunkFileNames: string; readonly cleanDir: boolean },
) => {
  const groups = new Groups()
  const own = [lateModules, getBuiltins, loadChunks, escapeLetters]
  return defineConfig({
    input,
    platform: "node",
    plugins: [groups.remember, ...plugins.first, ...own, ...plugins.last],
    output: {
      dir: "packages/cli/dist",
      format: "esm",
      minify: true,
      entryFileNames: "[name].mjs",
      codeSplitting: { groups: groups.all },
      ...output,
    },
  })
}

const source = "packages/cli/src"

export default [
  buildOf(
    { colloquy: `${source}/main.ts` },
    { first: [leaveOthers], last: [eagerStart] },
    { chunkFileNames: "[name]-[hash].mjs", cleanDir: true },
  ),
  buildOf(
    Object.fromEntries(
      otherCommands.map((name) => [entryOf(name), `${source}/commands/${name}.ts`]),
    ),
    { first: [], last: [] },
    { chunkFileNames: "others-[name]-[hash].mjs", cleanDir: false },
  ),
]
