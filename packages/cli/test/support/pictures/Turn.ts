/** The picture of a turn's way, packages/docs/pictures/turn.svg. Pure. */
import { arrow, box, label, picture } from "./Svg.ts"

const lanes = [
  { name: "client", note: "any transport" },
  { name: "server", note: "peer, handler, listener" },
  { name: "conversation", note: "a fiber with an inbox" },
  { name: "store", note: "event log" },
  { name: "turn", note: "a fiber of its own" },
  { name: "model", note: "provider" },
  { name: "tools", note: "policy, sandbox" },
] as const

type Lane = (typeof lanes)[number]["name"]

/** One message between two lanes; within one lane it is something that the lane does. */
interface Step {
  readonly from: Lane
  readonly to: Lane
  readonly text: string
}

const steps: ReadonlyArray<Step> = [
  { from: "client", to: "server", text: "request" },
  { from: "server", to: "conversation", text: "attach, submit" },
  { from: "conversation", to: "conversation", text: "decide: op → events" },
  { from: "conversation", to: "store", text: "record, synced" },
  { from: "conversation", to: "turn", text: "start" },
  { from: "conversation", to: "server", text: "publish; pulled" },
  { from: "server", to: "client", text: "events" },
  { from: "turn", to: "model", text: "history" },
  { from: "model", to: "turn", text: "deltas, calls" },
  { from: "turn", to: "conversation", text: "events" },
  { from: "turn", to: "tools", text: "tool call" },
  { from: "tools", to: "conversation", text: "question, where the policy requires one" },
  { from: "conversation", to: "server", text: "recorded question" },
  { from: "server", to: "client", text: "question" },
  { from: "client", to: "conversation", text: "answer, recorded before it counts" },
  { from: "conversation", to: "tools", text: "decision" },
  { from: "tools", to: "turn", text: "output" },
  { from: "turn", to: "conversation", text: "terminal event" },
  { from: "conversation", to: "store", text: "record, synced" },
  { from: "conversation", to: "server", text: "terminal event" },
  { from: "server", to: "client", text: "last event, result" },
]

const laneWidth = 156
const top = 84
const stepHeight = 30
const height = top + steps.length * stepHeight + 20

const xOf = (lane: Lane): number =>
  24 + laneWidth * lanes.findIndex(({ name }) => name === lane) + laneWidth / 2

const header = lanes.map(({ name, note }) =>
  box({ x: xOf(name) - 72, y: 20, width: 144, height: 48, text: name, note }),
)

const lines = lanes.map(
  ({ name }) =>
    `<line class="lane" x1="${xOf(name)}" y1="68" x2="${xOf(name)}" y2="${height - 12}"/>`,
)

const shown = ({ from, text, to }: Step, i: number): string => {
  const y = top + (i + 1) * stepHeight - 6
  const number = `${i + 1}. ${text}`
  if (from === to) return label({ x: xOf(from) + 8, y: y - 4 }, number, "note", "start")
  const x = Math.min(xOf(from), xOf(to)) + 8
  return [
    label({ x, y: y - 5 }, number, "note", "start"),
    arrow({ x: xOf(from), y }, { x: xOf(to), y }),
  ].join("\n")
}

/** The file. */
export const turnPicture = (): string =>
  picture({ width: 48 + laneWidth * lanes.length, height }, "The way of a turn, step by step", [
    ...lines,
    ...header,
    ...steps.map(shown),
  ])
