import { defineConfig } from "vitest/config"

const rooms = [
  "protocol",
  "core",
  "models",
  "server",
  "client",
  "transport-stdio",
  "testing",
  "cli",
  "bench",
]

export default defineConfig({
  test: {
    projects: rooms.map((name) => ({
      test: { name, root: `packages/${name}`, include: ["test/**/*.test.ts"] },
    })),
  },
})
