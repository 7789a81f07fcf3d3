/** The items of a conversation's resource as Markdown, for a person to read. Pure. */
import type { ResourceItem } from "./Items.ts"

/** A code block whose fence is longer than every fence in the text, so that the text cannot end it. */
const fenced = (text: string, language = ""): string => {
  const runs = text.match(/`{3,}/g) ?? []
  const fence = "`".repeat(Math.max(3, ...runs.map((run) => run.length + 1)))
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`
}

const quoted = (text: string): string =>
  text
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n")

/** A word that a shell reads as it is. */
const word = /^[\w@%+=:,./-]+$/

const spelled = (command: ReadonlyArray<string>): string =>
  command.map((one) => (word.test(one) ? one : `'${one.replaceAll("'", `'\\''`)}'`)).join(" ")

/** The state of a patch or of a tool call. */
const success = (ok: boolean | undefined): string => {
  if (ok === undefined) return "running"
  return ok ? "done" : "failed"
}

/** The check mark of a plan's step. */
const marks: Readonly<Record<string, string>> = { completed: "x", in_progress: "~" }

/** One item; a blank line follows. */
const section = (item: ResourceItem): string => {
  switch (item.type) {
    case "message":
      return `## ${item.role === "user" ? "User" : "Agent"}\n\n${item.text}`
    case "reasoning":
      return quoted(item.text)
    case "command": {
      const end = item.exit_code === undefined ? "running" : `exit code ${item.exit_code}`
      const output =
        item.output === undefined || item.output === "" ? "" : `\n\n${fenced(item.output)}`
      return `Command (${end}):\n\n${fenced(spelled(item.command), "sh")}${output}`
    }
    case "patch":
      return `Patch (${success(item.success)}):\n\n${item.files.map((file) => `- ${file}`).join("\n")}`
    case "tool_call":
      return `Tool ${item.server}/${item.tool} (${success(item.success)}):\n\n${fenced(JSON.stringify(item.arguments, undefined, 2), "json")}`
    case "plan":
      return item.steps.map(({ status, step }) => `- [${marks[status] ?? " "}] ${step}`).join("\n")
    case "error":
      return `**Error:** ${item.message}`
    case "interrupted":
      return `**Interrupted** (${item.reason})`
  }
}

/** The whole transcript. */
export const transcriptOf = (
  title: string,
  items: ReadonlyArray<ResourceItem>,
  /** Number of older items that are left out. */
  omitted: number,
): string =>
  [
    `# ${title}`,
    ...(omitted === 0 ? [] : [`_${omitted} earlier items left out._`]),
    ...items.map(section),
  ].join("\n\n") + "\n"
