/** The setpriv that the run of the tests names, for systems whose own has no Landlock. */
export const namedSetpriv: string | undefined = process.env["COLLOQUY_SETPRIV"]
