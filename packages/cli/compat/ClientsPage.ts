/** The page about clients: the setup that a user copies from it is the one that the checks run. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { ClientName } from "./Pins.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "")
const page = readFileSync(`${root}/packages/docs/clients.md`, "utf8")

/** The part of the page about that client; its heading ends with the name of the package and its version. */
const sectionOf = (client: ClientName): string => {
  const section = page.split(/^## /m).find((part) => part.split("\n")[0]?.includes(`\`${client}\``))
  if (section === undefined) throw new Error(`clients.md has no section about ${client}`)
  return section
}

/** The languages of the code blocks: lines of a shell, a file of settings, a module. */
export type Language = "sh" | "json" | "js"

/** The first code block of that language in the section of that client that installs nothing. */
const blockOf = (client: ClientName, language: Language): string => {
  const blocks = sectionOf(client).matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)
  for (const [, name, text = ""] of blocks) {
    if (name === language && !text.startsWith("npm install")) return text.trim()
  }
  throw new Error(`clients.md has no ${language} about ${client}`)
}

/** What stands for paths and ports on the page. */
export interface Values {
  /** The directory of Colloquy: this checkout unless it says otherwise. */
  readonly DIR?: string | undefined
  readonly PORT?: number
}

/** The setup of that client as the page has it, with the values of this machine. */
export const setup = (client: ClientName, language: Language, values: Values = {}): string =>
  blockOf(client, language)
    .replaceAll("DIR/", `${values.DIR ?? root}/`)
    .replaceAll("PORT", String(values.PORT ?? 0))

/** What a client tells the server about itself, and asks for with a call. */
export interface Declared {
  /** The newest revision that it names. */
  readonly revision: string
  /** Whether it answers questions. */
  readonly approvals: boolean
  readonly progress: boolean
  readonly tasks: boolean
  /** Whether it asks for `codex/event`. */
  readonly events: boolean
  /** Whether the server has the key in its environment. */
  readonly key: boolean
}

/** The row of that client in the table of the page. */
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
