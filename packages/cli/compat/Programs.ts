/** The clients that are programs: for each, the command that users type and the file that it runs. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { ClientName } from "./Pins.ts"

interface Program {
  /** The name of the command. */
  readonly command: string
  /** Candidates for the command's file, below `node_modules`; the first one that exists is used. */
  readonly files: ReadonlyArray<string>
}

const platform = `${process.platform}-${process.arch}`

/** Installed without scripts, the programs are in the platform-specific packages. */
const programs: Partial<Record<ClientName, Program>> = {
  mcporter: { command: "mcporter", files: ["mcporter/dist/cli.js"] },
  "opencode-ai": {
    command: "opencode",
    // The first file also runs on processors without AVX2.
    files: [`opencode-${platform}-baseline/bin/opencode`, `opencode-${platform}/bin/opencode`],
  },
  "@google/gemini-cli": {
    command: "gemini",
    files: ["@google/gemini-cli/bundle/gemini.js"],
  },
  "@anthropic-ai/claude-code": {
    command: "claude",
    files: [`@anthropic-ai/claude-code-${platform}/claude`],
  },
  supergateway: { command: "supergateway", files: ["supergateway/dist/index.js"] },
  "mcp-proxy": { command: "mcp-proxy", files: ["mcp-proxy/dist/bin/mcp-proxy.mjs"] },
  "mcp-remote": { command: "mcp-remote", files: ["mcp-remote/dist/proxy.js"] },
}

export interface FoundProgram {
  readonly command: string
  /** The words of the command line that runs the program. */
  readonly words: ReadonlyArray<string>
}

/** The program of the client that is installed in that folder; undefined for a library. */
export const programOf = (client: ClientName, folder: string): FoundProgram | undefined => {
  const program = programs[client]
  if (program === undefined) return undefined
  const paths = program.files.map((file) => join(folder, "node_modules", file))
  const path = paths.find((one) => existsSync(one))
  if (path === undefined) throw new Error(`none of its packages has a program for ${platform}`)
  const words = /\.m?js$/.test(path) ? [process.execPath, path] : [path]
  return { command: program.command, words }
}
