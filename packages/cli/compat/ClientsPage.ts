/** Reads the page about clients, so that the checks run the setup that a user copies from it. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { ClientName } from "./Pins.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "")
const page = readFileSync(`${root}/packages/docs/clients.md`, "utf8")

const sectionWith = (heading: string): string => {
  const section = page.split(/^## /m).find((part) => part.split("\n")[0]?.includes(heading))
  if (section === undefined) throw new Error(`clients.md has no section ${heading}`)
  return section
}

/** The section of the page about this client; its heading ends with the package's name and version. */
const sectionOf = (client: ClientName): string => sectionWith(`\`${client}\``)

/** The languages of the code blocks: shell lines, a settings file, a module. */
export type Language = "sh" | "json" | "js"

/** The first code block of this language, apart from blocks that install packages. */
const blockOf = (section: string, language: Language): string => {
  const blocks = section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)
  for (const [, name, text = ""] of blocks) {
    if (name === language && !text.startsWith("npm install")) return text.trim()
  }
  throw new Error(`clients.md has no ${language} in: ${section.slice(0, 40)}`)
}

/** Values that replace the placeholders for paths and ports on the page. */
export interface Values {
  /** The directory of Colloquy. Default: this checkout. */
  readonly DIR?: string | undefined
  readonly PORT?: number
  /** The token of the server over HTTP. */
  readonly TOKEN?: string
}

const filled = (block: string, values: Values): string =>
  block
    .replaceAll("DIR/", `${values.DIR ?? root}/`)
    .replaceAll("PORT", String(values.PORT ?? 0))
    .replaceAll("TOKEN", values.TOKEN ?? "none")

/** The client's setup from the page, with the values of this machine. */
export const setup = (client: ClientName, language: Language, values: Values = {}): string =>
  filled(blockOf(sectionOf(client), language), values)

/** The client's setup for a server that listens, with the values of this machine. */
export const httpSetup = (client: ClientName, language: Language, values: Values): string => {
  const [, part] = sectionOf(client).split(/^### Over HTTP$/m)
  if (part === undefined) throw new Error(`clients.md has no setup over HTTP for ${client}`)
  return filled(blockOf(part, language), values)
}

/** The line that runs the inspector over HTTP, with the values of this machine. */
export const inspectorLine = (values: Values): string =>
  filled(blockOf(sectionWith("Other clients"), "sh"), values)

/** What a client declares to the server, and what it requests with a call. */
export interface Declared {
  /** The newest revision that the client names. */
  readonly revision: string
  /** Whether the client answers questions. */
  readonly approvals: boolean
  readonly progress: boolean
  readonly tasks: boolean
  /** Whether the client requests `codex/event` notifications. */
  readonly events: boolean
  /** Whether the server has the key in its environment. */
  readonly key: boolean
}

/** The client's row in the table of the page. */
export const declaredOnPage = (client: ClientName): Declared => {
  const row = page.split("\n").find((line) => line.startsWith(`| \`${client}\` |`))
  if (row === undefined) throw new Error(`the table of clients.md has no row for ${client}`)
  const [revision = "", ...cells] = row
    .split("|")
    .slice(2, -1)
    .map((cell) => cell.trim())
  const [approvals, progress, tasks, events, key] = cells.map((cell) => {
    if (cell !== "yes" && cell !== "no") throw new Error(`${cell} is neither yes nor no: ${row}`)
    return cell === "yes"
  })
  return {
    revision,
    approvals: approvals === true,
    progress: progress === true,
    tasks: tasks === true,
    events: events === true,
    key: key === true,
  }
}
