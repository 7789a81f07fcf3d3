/**
 * Installs each client into a separate folder below one temporary folder before all checks, and removes that folder
 * after them: the clients need 1,000 packages, some of them in versions that exclude each other, and are not part of
 * the workspace.
 *
 * npm, its cache and the registry are those of the user who runs this. A client that cannot be installed is skipped,
 * and a line states the reason; a client in another version than the pinned one is a failure.
 */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import {
  type ClientName,
  clientNames,
  type Installed,
  packagesOf,
  pins,
  withoutOptional,
} from "./Pins.ts"
import { run } from "./Program.ts"
import { programOf } from "./Programs.ts"

const maxInstallMs = 120_000

/** Each installation unpacks files on one core while it waits for the network on another. */
const installsAtOnce = 3

/** npm runs on this Node: on an older one it would choose older packages, without saying so. */
const npm = async (args: ReadonlyArray<string>, cwd: string): Promise<void> => {
  const path = process.env["npm_execpath"]
  const [command, before] = path === undefined ? ["npm", []] : [process.execPath, [path]]
  const { code, stderr } = await run({ command, args: [...before, ...args], cwd }, maxInstallMs)
  if (code === undefined) {
    throw new Error(`npm did not finish within ${maxInstallMs / 1000} seconds`)
  }
  if (code !== 0) throw new Error(stderr.trim() || `npm exited with the code ${code}`)
}

const checkVersions = (folder: string, client: ClientName): void => {
  for (const [name, wanted] of Object.entries(packagesOf(client))) {
    const path = join(folder, "node_modules", name, "package.json")
    const { version } = JSON.parse(readFileSync(path, "utf8")) as { readonly version: string }
    if (version !== wanted) {
      throw new Error(`${name}@${wanted} was asked for, and ${version} was installed`)
    }
  }
}

const flags = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]

/** Resolves to npm's reason when the client cannot be installed. */
const install = async (root: string, client: ClientName): Promise<string | undefined> => {
  const folder = join(root, client)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n')
  const packages = Object.entries(packagesOf(client)).map(([name, version]) => `${name}@${version}`)
  try {
    const omitted = withoutOptional.has(client) ? ["--omit=optional"] : []
    await npm(["install", "--prefix", folder, ...flags, ...omitted, ...packages], folder)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  checkVersions(folder, client)
  try {
    programOf(client, folder)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return undefined
}

const installAll = async (root: string): Promise<Installed["missing"]> => {
  const missing: Partial<Record<ClientName, string>> = {}
  const queue = [...clientNames]
  const worker = async (): Promise<void> => {
    for (let client = queue.shift(); client !== undefined; client = queue.shift()) {
      const reason = await install(root, client)
      if (reason !== undefined) missing[client] = reason
    }
  }
  await Promise.all(Array.from({ length: installsAtOnce }, worker))
  return missing
}

const report = ({ missing }: Installed): void => {
  const lines = clientNames.map((name) => {
    const reason = missing[name]?.replaceAll(/\s*\n\s*/g, "; ")
    const client = `${name} ${pins[name]}`
    return reason === undefined ? `${client}\n` : `${client} SKIPPED, not installed: ${reason}\n`
  })
  process.stdout.write(`clients driven:\n${lines.map((line) => `  ${line}`).join("")}`)
}

/** For Vitest's `globalSetup`. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-compat-"))
  // Thousands of files: removed synchronously, they would keep Vitest from ending its workers in time.
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const installed = { folder, missing: await installAll(folder) }
    report(installed)
    project.provide("installed", installed)
    return remove
  } catch (error) {
    await remove()
    throw error
  }
}
