/** What a client knows of the texts of items by what it was sent: it applies every output, and refuses one that does not follow. */
import type { ThreadItem } from "@colloquy/protocol/thread/Items"
import { assert } from "@effect/vitest"
import type { ThreadOutput } from "../../src/thread/ThreadFold.ts"

/** The texts of an open item. Those of a message are the only one of its `content`. */
interface Texts {
  readonly summary: Array<string>
  readonly content: Array<string>
}

const textsOf = (item: ThreadItem): Texts => {
  if (item.type === "agentMessage") return { summary: [], content: [item.text] }
  return item.type === "reasoning"
    ? { summary: [...item.summary], content: [...item.content] }
    : { summary: [], content: [] }
}

/** See the header. The deltas of each item that starts have to join to the texts with which it completes. */
export class DeliveredItems {
  /** In the order in which they were completed. */
  readonly completed: Array<ThreadItem> = []
  private readonly open = new Map<string, Texts>()

  /** The client joins: a response has these open items. */
  join(items: ReadonlyArray<ThreadItem>): void {
    for (const item of items) this.open.set(item.id, textsOf(item))
  }

  /** Ids of the items that have started and not completed. */
  get started(): ReadonlyArray<string> {
    return [...this.open.keys()]
  }

  receive(output: ThreadOutput): void {
    switch (output._tag) {
      case "ItemStarted":
        assert.isFalse(this.open.has(output.item.id), `${output.item.id} starts twice`)
        this.open.set(output.item.id, textsOf(output.item))
        return
      case "PartAdded": {
        const { summary } = this.of(output.itemId)
        assert.strictEqual(output.index, summary.length, `parts of ${output.itemId}`)
        summary.push("")
        return
      }
      case "SummaryDelta": {
        const { summary } = this.of(output.itemId)
        assert.isBelow(output.index, summary.length, `a delta of no part of ${output.itemId}`)
        summary[output.index] += output.delta
        return
      }
      case "ReasoningDelta":
        return this.add(output.itemId, output.index, output.delta)
      case "MessageDelta":
        return this.add(output.itemId, 0, output.delta)
      case "ItemCompleted":
        return this.complete(output.item)
      default:
    }
  }

  private of(id: string): Texts {
    const texts = this.open.get(id)
    assert.isDefined(texts, `${id} is not open`)
    return texts
  }

  private add(id: string, index: number, delta: string): void {
    assert.notStrictEqual(delta, "", `an empty delta of ${id}`)
    const { content } = this.of(id)
    // Content has no event that begins a section: one without text has no delta.
    while (content.length <= index) content.push("")
    content[index] += delta
  }

  private complete(item: ThreadItem): void {
    const { content, summary } = this.of(item.id)
    this.open.delete(item.id)
    this.completed.push(item)
    const expected = textsOf(item)
    while (content.length < expected.content.length) content.push("")
    assert.deepStrictEqual({ summary, content }, expected, `the deltas of ${item.id}`)
  }
}
