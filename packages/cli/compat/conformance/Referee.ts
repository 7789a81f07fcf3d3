/** Runs `@modelcontextprotocol/conformance` (the referee) against an address and reads its findings. */
import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { folderOf } from "../Driver.ts"

export interface Check {
  readonly id: string
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO"
  readonly errorMessage?: string
}

/** The checks that the referee made, by scenario. */
export type Findings = ReadonlyMap<string, ReadonlyArray<Check>>

const maxRunMs = 120_000

/** `server-<scenario>-<time>`, as the referee names the folders of its findings. */
const folderName = /^(?:server-)?(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/

const readFindings = (folder: string): Findings =>
  new Map(
    readdirSync(folder).map((name) => {
      const checks = JSON.parse(
        readFileSync(join(folder, name, "checks.json"), "utf8"),
      ) as Array<Check>
      return [folderName.exec(name)?.[1] ?? name, checks]
    }),
  )

/** Returns the checks. The referee's exit code is ignored, because it only reports that a required check failed. */
export const judge = async (url: string, words: ReadonlyArray<string>): Promise<Findings> => {
  const folder = folderOf("@modelcontextprotocol/conformance")
  const bin = join(folder, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
  const output = mkdtempSync(join(tmpdir(), "colloquy-referee-"))
  try {
    await new Promise<void>((resolve, reject) => {
      execFile(
        process.execPath,
        [bin, "server", "--url", url, ...words, "-o", output],
        { cwd: output, timeout: maxRunMs, maxBuffer: 64 * 1024 * 1024 },
        (error) => {
          if (error === null || error.code === 1) resolve()
          else reject(error)
        },
      )
    })
    return readFindings(output)
  } finally {
    rmSync(output, { recursive: true, maxRetries: 10, force: true })
  }
}
