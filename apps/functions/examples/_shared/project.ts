declare const Deno: { env: { get(name: string): string | undefined } }

/** An error answer of the project API, which the function passes on. */
export class ProjectError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Calls the project API and returns the JSON of its answer. */
export async function callProject(path: string, body: unknown, headers: Record<string, string>): Promise<unknown> {
  const response = await fetch(`${Deno.env.get('PROJECT_URL')}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as { message?: string; error?: string }
  if (!response.ok) throw new ProjectError(response.status, answer.message ?? answer.error ?? 'the project API failed')
  return answer
}

/** The caller's own credentials, so that the function reads only data that the caller may read. */
export function credentialsOf(request: Request): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name of ['apikey', 'authorization']) {
    const value = request.headers.get(name)
    if (value !== null) headers[name] = value
  }
  return headers
}

/**
 * Placeholder for the key of the routing engine. The host replaces it with the key, which never enters this process.
 */
export function servicesKey(): Record<string, string> {
  return { apikey: Deno.env.get('SERVICES_KEY') ?? '' }
}
