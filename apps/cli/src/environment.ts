// oxlint-disable-next-line node/no-process-env -- A command line is configured by its environment.
export const environment = (): Readonly<Record<string, string | undefined>> => process.env
