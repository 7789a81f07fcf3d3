/** What the model is told of a command, read as it reads it. */
interface Told {
  readonly output: string
  readonly metadata: { readonly exit_code: number }
}

const read = (output: string | undefined) => JSON.parse(output ?? "") as Told

export const codeOf = (output: string | undefined): number => read(output).metadata.exit_code
export const textOf = (output: string | undefined): string => read(output).output
