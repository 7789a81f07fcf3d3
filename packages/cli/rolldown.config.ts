import { isBuiltin } from "node:module"
import { defineConfig, type Plugin } from "rolldown"

/** What each module imports statically, as it was parsed. */
const imports = new Map<string, ReadonlyArray<string>>()

const remember: Plugin = {
  name: "remember-imports",
  moduleParsed: (info) => {
    imports.set(info.id, info.importedIds)
  },
}

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

/** Chunks in the order in which a process loads them, each with the modules that are its entries. */
const chunks = [
  // Everything that is read before a client of `mcp` gets its first response.
  { name: "start", entries: ["cli/src/commands/Mcp.ts"] },
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

/** The modules that an entry imports statically, whatever imports them, and the entry. */
const closureOf = (entry: string): ReadonlySet<string> => {
  const closure = new Set<string>()
  const left = [...imports.keys()].filter((one) => one.endsWith(`packages/${entry}`))
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (closure.has(next)) continue
    closure.add(next)
    left.push(...(imports.get(next) ?? []))
  }
  return closure
}

/** True for the functions that the bundler adds. */
const isRuntime = (id: string): boolean => id.startsWith("\0rolldown")

const closures = new Map<string, ReadonlySet<string>>()

const isIn = (entry: string, id: string): boolean => {
  const closure = closures.get(entry) ?? closureOf(entry)
  closures.set(entry, closure)
  return closure.has(id)
}

export default defineConfig({
  input: { colloquy: "packages/cli/src/main.ts" },
  platform: "node",
  plugins: [remember, getBuiltins, escapeLetters],
  output: {
    dir: "packages/cli/dist",
    format: "esm",
    minify: true,
    cleanDir: true,
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
    // One file in place of some forty: each is found, read and linked by itself while a client waits.
    codeSplitting: {
      groups: chunks.map(({ entries, name }, index) => ({
        name,
        priority: chunks.length - index,
        test: (id: string) =>
          (index === 0 && isRuntime(id)) || entries.some((entry) => isIn(entry, id)),
      })),
    },
  },
})
