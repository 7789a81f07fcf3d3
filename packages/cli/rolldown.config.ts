import { defineConfig } from "rolldown"

export default defineConfig({
  input: { colloquy: "packages/cli/src/main.ts" },
  platform: "node",
  output: {
    dir: "packages/cli/dist",
    format: "esm",
    minify: true,
    cleanDir: true,
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  },
})
