/** The texts of the sections of reasoning: what a client has of them, and what it lacks. Pure. */
import type { ItemOutput, Open, Section, SectionTexts } from "./ProjectionState.ts"

/** A section, of which only the text counts. */
export type SectionText = Pick<Section, "part" | "text">

/** No section at all. */
export const noTexts: SectionTexts = { summary: [], content: [] }

const ofPart = (
  sections: ReadonlyArray<SectionText>,
  part: Section["part"],
): ReadonlyArray<string> => sections.filter((one) => one.part === part).map(({ text }) => text)

/** The texts of sections, each part in the order of its sections. */
export const textsOf = (sections: ReadonlyArray<SectionText>): SectionTexts => ({
  summary: ofPart(sections, "summary"),
  content: ofPart(sections, "content"),
})

/** More text of a section, which has that place in its part. */
export const textDelta = (
  { id: itemId, turnId }: Open,
  part: Section["part"],
  index: number,
  delta: string,
): ReadonlyArray<ItemOutput> => {
  const _tag = part === "summary" ? ("SummaryDelta" as const) : ("ReasoningDelta" as const)
  return delta === "" ? [] : [{ _tag, turnId, itemId, index, delta }]
}

const partContinues = (sent: ReadonlyArray<string>, texts: ReadonlyArray<string>): boolean =>
  sent.every((text, index) => texts[index]?.startsWith(text) === true)

/** True where the texts have everything that was sent, at the same places: a client lacks the rest only. */
export const continues = (sent: SectionTexts, { content, summary }: SectionTexts): boolean =>
  partContinues(sent.summary, summary) && partContinues(sent.content, content)

const restOfPart = (
  open: Open,
  part: Section["part"],
  sent: ReadonlyArray<string>,
  texts: ReadonlyArray<string>,
): ReadonlyArray<ItemOutput> =>
  texts.flatMap((text, index) => {
    const { id: itemId, turnId } = open
    const added: ReadonlyArray<ItemOutput> =
      part === "summary" && index >= sent.length
        ? [{ _tag: "PartAdded", turnId, itemId, index }]
        : []
    return [...added, ...textDelta(open, part, index, text.slice(sent[index]?.length ?? 0))]
  })

/** What a client lacks of texts that continue what was sent: the beginnings of sections of the summary, and text. */
export const restOf = (
  open: Open,
  sent: SectionTexts,
  { content, summary }: SectionTexts,
): ReadonlyArray<ItemOutput> => [
  ...restOfPart(open, "summary", sent.summary, summary),
  ...restOfPart(open, "content", sent.content, content),
]
