import { defineConfig, type Plugin } from "rolldown"

/** What each module imports statically, as it was parsed. */
const imports = new Map<string, ReadonlyArray<string>>()

const remember: Plugin = {
  name: "remember-imports",
  moduleParsed: (info) => {
    imports.set(info.id, info.importedIds)
  },
}

let started: Set<string> | undefined

/** Everything that is read before a client of `mcp` gets its first answer. */
const isRead = (id: string): boolean => {
  if (started === undefined) {
    started = new Set()
    const left = [...imports.keys()].filter((one) => one.endsWith("packages/cli/src/Mcp.ts"))
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
  plugins: [remember],
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
