/** The output of a command as the model reads it. */
interface ModelOutput {
  readonly output: string
  readonly metadata: { readonly exit_code: number }
}

const read = (output: string | undefined) => JSON.parse(output ?? "") as ModelOutput

export const codeOf = (output: string | undefined): number => read(output).metadata.exit_code
export const textOf = (output: string | undefined): string => read(output).output
