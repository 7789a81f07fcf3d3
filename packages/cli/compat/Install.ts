/**
 * Installs the clients into a temporary folder, before all checks, and removes it behind them: they bring 200 packages
 * and are no part of the workspace.
 *
 * npm and the registry are those of whoever runs this. A client that the registry does not give is skipped, with a line
 * that says so; one in another version than asked for is a failure.
 */
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { type ClientName, clientNames, type Installed, pins } from "./Pins.ts"

const maxInstallMs = 90_000

/** npm within this Node: run by an older one it would choose dependencies that are meant for that. */
const npm = (args: ReadonlyArray<string>, cwd: string): Promise<void> => {
  const ours = process.env["npm_execpath"]
  const [command, before] = ours === undefined ? ["npm", []] : [process.execPath, [ours]]
  return new Promise((resolve, reject) => {
    execFile(command, [...before, ...args], { cwd, timeout: maxInstallMs }, (error, _, stderr) => {
      if (error === null) resolve()
      else reject(new Error(stderr.trim() === "" ? error.message : stderr.trim()))
    })
  })
}

const install = (folder: string, names: ReadonlyArray<ClientName>): Promise<void> =>
  npm(
    [
      "install",
      "--prefix",
      folder,
      "--no-save",
      "--no-package-lock",
      "--ignore-scripts",
      ...names.map((name) => `${name}@${pins[name]}`),
    ],
    folder,
  )

const checkVersion = (folder: string, name: ClientName): void => {
  const path = join(folder, "node_modules", name, "package.json")
  const { version } = JSON.parse(readFileSync(path, "utf8")) as { readonly version: string }
  if (version !== pins[name]) {
    throw new Error(`asked for ${name}@${pins[name]}, and ${version} was installed`)
  }
}

/** All at once; where that fails one by one, to see which it is. */
const installAll = async (folder: string): Promise<Installed["missing"]> => {
  try {
    await install(folder, clientNames)
    return {}
  } catch {
    const missing: Partial<Record<ClientName, string>> = {}
    for (const name of clientNames) {
      // One after the other: npm rewrites the folder each time, and drops what it is not told of again.
      const wanted = clientNames.slice(0, clientNames.indexOf(name) + 1)
      await install(
        folder,
        wanted.filter((one) => missing[one] === undefined),
      ).catch((error: unknown) => {
        missing[name] = error instanceof Error ? error.message : String(error)
      })
    }
    return missing
  }
}

const report = ({ missing }: Installed): void => {
  const lines = clientNames.map((name) => {
    const reason = missing[name]
    const client = `${name} ${pins[name]}`
    return reason === undefined ? `${client}\n` : `${client} SKIPPED, not installed: ${reason}\n`
  })
  process.stdout.write(`clients driven:\n${lines.map((line) => `  ${line}`).join("")}`)
}

/** For Vitest's `globalSetup`. */
export const setup = async (project: TestProject): Promise<() => void> => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-compat-"))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n')
    const installed = { folder, missing: await installAll(folder) }
    for (const name of clientNames) {
      if (installed.missing[name] === undefined) checkVersion(folder, name)
    }
    report(installed)
    project.provide("installed", installed)
    return remove
  } catch (error) {
    remove()
    throw error
  }
}
