/** Fixtures as texts, without a file system. */
declare global {
  interface ImportMeta {
    /** Vite's: the texts of the files that match, by path. */
    readonly glob: (
      pattern: string,
      options: { readonly query: "?raw"; readonly eager: true; readonly import: "default" },
    ) => Readonly<Record<string, string>>
  }
}

const texts = import.meta.glob("./fixtures/v0.29.0/events.jsonl", {
  query: "?raw",
  eager: true,
  import: "default",
})

export interface RecordedEvent {
  readonly recording: string
  readonly msg: { readonly type: string }
}

/** Every different `msg` of the `codex/event` notifications in the recordings of 0.29, in the order of their names. */
export const recordedEvents: ReadonlyArray<RecordedEvent> = Object.values(texts).flatMap((text) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RecordedEvent),
)
