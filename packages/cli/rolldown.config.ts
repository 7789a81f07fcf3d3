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

let started: Set<string> | undefined

/** Everything that is read before a client of `mcp` gets its first answer. */
const isRead = (id: string): boolean => {
  if (started === undefined) {
    started = new Set()
    const left = [...imports.keys()].filter((one) =>
      one.endsWith("packages/cli/src/commands/Mcp.ts"),
    )
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (started.has(next)) continue
      started.add(next)
      left.push(...(imports.get(next) ?? []))
    }
  }
  return started.has(id)
}

export default defineConfig({
  input: { colloquy: "packages/cli/src/main.ts" },
  platform: "node",
  plugins: [remember, escapeLetters],
  output: {
    dir: "packages/cli/dist",
    format: "esm",
    minify: true,
    cleanDir: true,
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
    // One file in place of some forty: each is found, read and linked by itself while a client waits.
    codeSplitting: { groups: [{ name: "serve", test: isRead }] },
  },
})
