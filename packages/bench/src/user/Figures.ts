/** The figures of the benchmark `user`: their titles, units and aims. Pure. */
import { summarize } from "../Stats.ts"

const figures = {
  new: { title: "new conversation and turn", unit: "ms", aim: 8, better: "less" },
  newEvent: { title: "its first event", unit: "ms", aim: 4, better: "less" },
  reply: { title: "warm reply", unit: "ms", aim: 3.5, better: "less" },
  provider: { title: "the provider alone, beside it", unit: "ms" },
  sequence: { title: "replies in sequence, cold process", unit: "/s", aim: 280, better: "more" },
  processor: { title: "processor time of one of those", unit: "ms", aim: 2.5, better: "less" },
  atOnce: { title: "conversations at once", unit: "/s", aim: 340, better: "more" },
  resident: { title: "resident memory of one of those", unit: "KB", aim: 130, better: "less" },
  growth: { title: "growth per sequential conversation", unit: "KB", aim: 10, better: "less" },
  deltas: { title: "turn of many deltas, written at once", unit: "ms", aim: 60, better: "less" },
  unmerged: { title: "deltas of it that arrived separately", unit: "" },
  start: { title: "start to the answer to initialize", unit: "ms" },
  bare: { title: "start as a multiple of bare Node", unit: "×", aim: 1.8, better: "less" },
  first: { title: "first conversation of a process", unit: "ms", aim: 60, better: "less" },
} as const

/** Name of a figure in the JSON. */
export type FigureKey = keyof typeof figures

/** All samples of a contender, per figure. */
export type Samples = Map<FigureKey, Array<number>>

/** Middle and width of all samples of a figure. */
export interface Spread {
  readonly count: number
  readonly median: number
  readonly p10: number
  readonly p90: number
}

/** One line of the table. */
export interface FigureLine {
  readonly key: string
  readonly title: string
  /** `ms`, `/s`, `KB`, `×`, or empty for a count. */
  readonly unit: string
  readonly aim?: { readonly value: number; readonly better: "less" | "more" }
  /** By name of the contender; absent when it was not measured. */
  readonly of: Readonly<Record<string, Spread>>
}

/** Everything that a run of the benchmark found. */
export interface Report {
  readonly machine: string
  readonly runs: number
  /** Counts per run, which the titles of the figures do not say. */
  readonly sizes: Readonly<Record<string, number>>
  readonly contenders: ReadonlyArray<string>
  /** By name of the contender: attempts that are not in the figures, because a request was not answered in 30 seconds. */
  readonly unanswered: Readonly<Record<string, number>>
  /** Milliseconds from start to exit of a Node that does nothing. */
  readonly bareNode: Spread
  readonly figures: ReadonlyArray<FigureLine>
  readonly phases: ReadonlyArray<Phase>
}

/** A part of a warm reply, in milliseconds from when the client sent its request; parts may overlap. */
export interface Phase {
  readonly title: string
  readonly fromMs: number
  readonly untilMs: number
}

/** Median and tenths, to three decimals. */
export const spread = (samples: ReadonlyArray<number>): Spread => {
  const sorted = samples.toSorted((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
  const round = (value: number) => Math.round(value * 1000) / 1000
  return {
    count: sorted.length,
    median: round(summarize(sorted).median),
    p10: round(at(0.1)),
    p90: round(at(0.9)),
  }
}

/** One line per figure; the multiple of bare Node is computed from the starts. */
export const lines = (
  samples: ReadonlyMap<string, Samples>,
  bareMs: number,
): ReadonlyArray<FigureLine> =>
  Object.entries(figures).map(([name, figure]) => {
    const key = name as FigureKey
    const of: Record<string, Spread> = {}
    for (const [contender, taken] of samples) {
      const found =
        key === "bare" ? taken.get("start")?.map((value) => value / bareMs) : taken.get(key)
      if (found !== undefined) of[contender] = spread(found)
    }
    const { title, unit } = figure
    return {
      key,
      title,
      unit,
      ...("aim" in figure ? { aim: { value: figure.aim, better: figure.better } } : {}),
      of,
    }
  })
