/** `@modelcontextprotocol/conformance`: runs it against an address and reads what it found. */
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

/** What it found, by scenario. */
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

/** Its own exit code says only that a required check failed: what is asserted are the checks. */
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
    rmSync(output, { recursive: true, force: true })
  }
}
