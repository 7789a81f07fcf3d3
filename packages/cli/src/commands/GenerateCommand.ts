/**
 * The commands `generate-ts`, `generate-json-schema` and `generate-docs`: print the contract of a dialect, or write the
 * contract of each dialect into a file, generated from the definitions. Exit codes: 0 done, 1 the directory cannot be
 * written.
 */
import type { Contract } from "@colloquy/protocol/emit/Contract"
import { jsonSchemaDocumentOf } from "@colloquy/protocol/emit/JsonSchemaDocument"
import { markdownOf } from "@colloquy/protocol/emit/Markdown"
import { typeScriptOf } from "@colloquy/protocol/emit/TypeScript"
import { makeFolders } from "@colloquy/store/node/MakeFolders"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { DialectName, GenerateFormat, GenerateScope } from "../args/Args.ts"
import { codeOf } from "../config/ConfigFile.ts"
import { contracts } from "./Contracts.ts"

interface Emitter {
  readonly ending: string
  readonly emit: (contract: Contract) => string
}

const emitters: Readonly<Record<GenerateFormat, Emitter>> = {
  ts: { ending: "ts", emit: typeScriptOf },
  "json-schema": {
    ending: "schema.json",
    emit: (contract) => `${JSON.stringify(jsonSchemaDocumentOf(contract), null, 2)}\n`,
  },
  docs: { ending: "md", emit: markdownOf },
}

/** The generated texts by file name. @param dialect default: every dialect */
export const filesOf = (
  format: GenerateFormat,
  dialect?: DialectName,
): ReadonlyMap<string, string> => {
  const { emit, ending } = emitters[format]
  const wanted = contracts().filter((one) => dialect === undefined || one.dialect === dialect)
  return new Map(wanted.map((contract) => [`${contract.dialect}.${ending}`, emit(contract)]))
}

/** Writes the files, creating a missing directory, or prints all documents one after the other. Returns the exit code. */
export const run = (format: GenerateFormat, { dialect, out }: GenerateScope): number => {
  const files = filesOf(format, dialect)
  if (out === undefined) {
    process.stdout.write([...files.values()].join("\n"))
    return 0
  }
  try {
    makeFolders(out)
    for (const [name, text] of files) writeFileSync(join(out, name), text)
    return 0
  } catch (error) {
    process.stderr.write(`colloquy: ${out} cannot be written (${codeOf(error)})\n`)
    return 1
  }
}
