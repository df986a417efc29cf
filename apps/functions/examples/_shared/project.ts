declare const Deno: { env: { get(name: string): string | undefined } }

/** An answer of the project API that is not a success; the function passes it on. */
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

/** The caller's own credentials: what the function sees is what the caller may see. */
export function credentialsOf(request: Request): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name of ['apikey', 'authorization']) {
    const value = request.headers.get(name)
    if (value !== null) headers[name] = value
  }
  return headers
}

/** The key for the routing engine; the host puts it in, it is never in this process. */
export function servicesKey(): Record<string, string> {
  return { apikey: Deno.env.get('SERVICES_KEY') ?? '' }
}
