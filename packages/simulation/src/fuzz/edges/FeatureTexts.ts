/** Texts that embedders, prompt files and clients supply to the features of a server: URI templates and prompts. */
import * as PromptText from "@colloquy/server/features/PromptText"
import * as UriTemplate from "@colloquy/server/features/UriTemplate"
import * as Result from "effect/Result"
import { encode } from "../Bytes.ts"
import type { Edge } from "../Edge.ts"
import { expect, mutateJoined, pure, textOf } from "./Pure.ts"

const templates = [
  "file:///{+path}\nfile:///a/b%20c/d.txt",
  "note://{owner}/items/{id}\nnote://me/items/%C3%A9",
  "x:{a}-{+b}-{c}\nx:1-2-3-4",
  "x:{__proto__}\nx:polluted",
].map(encode)

/** The address that results from the values of the variables. */
const expanded = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(/\{\+?([A-Za-z0-9_]+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ""),
  )

/** URI templates of resources, and URIs that are matched against them. */
export const uriTemplates: Edge = {
  name: "uri-template",
  summary: "Templates of resource addresses, and addresses that match them (server/features).",
  corpus: templates,
  mutate: mutateJoined("\n", templates),
  open: pure((input) => {
    const [template = "", ...uris] = textOf(input).split("\n")
    const parsed = UriTemplate.parse(template)
    if (Result.isFailure(parsed)) {
      expect(parsed.failure !== "", "refuses a template without a reason")
      return "rejected"
    }
    const { match, variables } = parsed.success
    for (const uri of uris) {
      const values = match(uri)
      if (values === undefined) continue
      const given = variables.every((name) => typeof values[name] === "string")
      expect(given, "matches without a value for every variable")
      const again = match(expanded(template, values))
      const isSame = again === undefined || variables.every((name) => again[name] !== undefined)
      expect(isSame, "does not match the address that its values expand to")
    }
    return "accepted"
  }),
}

const prompts = [
  '---\ndescription: "Review it"\nargument-hint: [file] <how>\n---\nReview $1 and $2, $ARGUMENTS $$ $NAME.\n',
  "just text\r\nwith $USER\r\n",
].map(encode)

/** Prompt files with their front matter. */
export const promptFiles: Edge = {
  name: "prompt-file",
  summary: "Prompt files with their front matter (server/features/PromptText).",
  corpus: prompts,
  mutate: mutateJoined("\n", prompts),
  open: pure((input) => {
    const parsed = PromptText.parse(textOf(input))
    if (Result.isFailure(parsed)) {
      expect(parsed.failure !== "", "refuses a file without a reason")
      return "rejected"
    }
    const prompt = parsed.success
    expect(prompt.arguments.length <= 32, "has more than 32 arguments")
    const names = new Set(prompt.arguments.map(({ name }) => name))
    expect(names.size === prompt.arguments.length, "has an argument twice")
    const text = PromptText.expand(prompt.body, { "1": "one", ARGUMENTS: "a b c", NAME: "$1" })
    expect(text.length <= 20 * prompt.body.length + 100, "expands without bound")
    return "accepted"
  }),
}
