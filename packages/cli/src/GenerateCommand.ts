/**
 * The commands `generate-ts`, `generate-json-schema` and `generate-docs`: print the contract of every dialect, one file
 * each, from the definitions. Exit codes: 0 done, 1 the directory cannot be written.
 */
import type { Contract } from "@colloquy/protocol/emit/Contract"
import { jsonSchemaDocumentOf } from "@colloquy/protocol/emit/JsonSchemaDocument"
import { markdownOf } from "@colloquy/protocol/emit/Markdown"
import { typeScriptOf } from "@colloquy/protocol/emit/TypeScript"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { GenerateFormat } from "./Args.ts"
import { codeOf } from "./config/ConfigFile.ts"
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

/** The files of one format by name. */
export const filesOf = (format: GenerateFormat): ReadonlyMap<string, string> => {
  const { emit, ending } = emitters[format]
  return new Map(contracts().map((contract) => [`${contract.dialect}.${ending}`, emit(contract)]))
}

/** @param out directory, made where it is missing; without one everything goes to stdout */
export const run = (format: GenerateFormat, out: string | undefined): number => {
  const files = filesOf(format)
  if (out === undefined) {
    process.stdout.write([...files.values()].join("\n"))
    return 0
  }
  try {
    mkdirSync(out, { recursive: true })
    for (const [name, text] of files) writeFileSync(join(out, name), text)
    return 0
  } catch (error) {
    process.stderr.write(`colloquy: ${out} cannot be written (${codeOf(error)})\n`)
    return 1
  }
}
