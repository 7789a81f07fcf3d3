/** The text of a SKILL.md: a name and a description in YAML between two lines `---`, then instructions. Pure. */
import * as Yaml from "effect/encoding/Yaml"
import * as Result from "effect/Result"

/** The contents of a SKILL.md. */
export interface SkillText {
  readonly name: string
  readonly description: string
  /** The instructions. */
  readonly body: string
}

/** Both limits are those of the format's description. */
const maxNameLength = 64
const maxDescriptionLength = 1024

const frontMatter = /^\uFEFF?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)/s

const parsed = (text: string): Result.Result<unknown, string> => {
  try {
    return Result.succeed(Yaml.parse(text))
  } catch {
    // The message of the parser quotes the file.
    return Result.fail("the lines between `---` are not valid YAML")
  }
}

const textAt = (
  members: unknown,
  name: string,
  maxLength: number,
): Result.Result<string, string> => {
  const value: unknown =
    typeof members === "object" && members !== null && Object.hasOwn(members, name)
      ? (members as Readonly<Record<string, unknown>>)[name]
      : undefined
  if (typeof value !== "string" || value.trim() === "") {
    return Result.fail(`${name}: expected a text between the lines \`---\``)
  }
  const line = value.trim().replaceAll(/\s+/g, " ")
  return line.length > maxLength
    ? Result.fail(`${name}: expected at most ${maxLength} characters, got ${line.length}`)
    : Result.succeed(line)
}

/** Reads the text of a file. Fails with the reason why it describes no skill. */
export const parse = (text: string): Result.Result<SkillText, string> => {
  const found = frontMatter.exec(text)
  if (found === null) return Result.fail("expected a first line `---`, and a second one below")
  const [head, yaml = ""] = found
  const members = parsed(yaml)
  if (Result.isFailure(members)) return Result.fail(members.failure)
  const name = textAt(members.success, "name", maxNameLength)
  if (Result.isFailure(name)) return Result.fail(name.failure)
  const description = textAt(members.success, "description", maxDescriptionLength)
  return Result.map(description, (words) => ({
    name: name.success,
    description: words,
    body: text.slice(head.length).trim(),
  }))
}

/** A skill, as it is offered to the model. */
export interface OfferedSkill extends SkillText {
  /** Absolute path of its SKILL.md. */
  readonly path: string
  /** `user`: in the state directory, whose files no command can read. */
  readonly scope: "user" | "repo"
}

/** Characters of all descriptions, and of all instructions of the user's skills, that the model is sent. */
const maxListLength = 16_384
const maxBodiesLength = 32_768

const introduction = `## Skills

A skill is a set of instructions for one kind of task. When the user names a skill, or the task is one that its description covers, read its instructions before you begin and follow them. A skill with a file: read the file; paths in it are relative to its directory.`

/** The text that offers the skills to the model; undefined without any. What exceeds the limits is left out, the last ones first. */
export const offer = (skills: ReadonlyArray<OfferedSkill>): string | undefined => {
  if (skills.length === 0) return undefined
  let [listLength, bodiesLength] = [0, 0]
  const list: Array<string> = []
  const bodies: Array<string> = []
  for (const { body, description, name, path, scope } of skills) {
    const line =
      scope === "repo"
        ? `- ${name}: ${description} (file: ${path})`
        : `- ${name}: ${description} (instructions below)`
    listLength += line.length
    if (scope === "user") bodiesLength += body.length
    if (listLength > maxListLength || bodiesLength > maxBodiesLength) break
    list.push(line)
    if (scope === "user") bodies.push(`### Skill ${name}\n\n${body}`)
  }
  return list.length === 0 ? undefined : [introduction, list.join("\n"), ...bodies].join("\n\n")
}
