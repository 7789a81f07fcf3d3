/** Reads a Dockerfile: its instructions in order, with continued lines joined. */

/** One instruction, such as `RUN` with the text of its command. */
export interface Instruction {
  readonly name: string
  readonly value: string
}

/** The instructions of the text of a Dockerfile. Comments are left out. */
export const instructionsOf = (text: string): ReadonlyArray<Instruction> =>
  text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .flatMap((line) => {
      const [, name = "", value = ""] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
      return name === "" ? [] : [{ name, value }]
    })

/** The words of a command in the form of a JSON array, at the end of an instruction. */
export const wordsOf = (value: string): ReadonlyArray<string> =>
  JSON.parse(value.slice(value.indexOf("[")))
