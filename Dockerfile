# ycbot with all that it needs itself, and no toolchains: derive from it, or use
# it where commands of your own bring theirs.
#
#   docker build -t ycbot .
#   docker run --rm -v "$PWD":/src:ro ycbot run -C /src --no-model
#
# bubblewrap makes namespaces. Where the engine forbids that, ycbot says so and
# takes a lower tier; "ycbot sandbox doctor" shows which. To allow it:
#   --security-opt seccomp=unconfined --security-opt apparmor=unconfined

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOFLAGS=-mod=readonly go build $(cat cmd/ycbot/build.flags) -ldflags="-s -w" -o /ycbot ./cmd/ycbot

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends bash bubblewrap ca-certificates git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --create-home --shell /usr/sbin/nologin ycbot \
 && install -d -o ycbot -g ycbot -m 0700 /data
COPY --from=build /ycbot /usr/local/bin/ycbot
USER 10001:10001
# $YCBOT_HOME is the user's, and what the App keeps goes to /data.
ENV YCBOT_HOME=/home/ycbot/.ycbot YCBOT_DATA=/data
WORKDIR /home/ycbot
VOLUME /data
# A server is healthy while its database answers; whatever else the image runs ends by itself.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["/bin/bash", "-c", "\
 [[ $(tr '\\0' ' ' </proc/1/cmdline) == *' app serve '* ]] || exit 0; \
 exec 3<>/dev/tcp/127.0.0.1/${YCBOT_HEALTH_PORT:-8080} && printf 'GET /readyz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r line <&3 && [[ $line == *' 200 '* ]]"]
ENTRYPOINT ["/usr/local/bin/ycbot"]
CMD ["--help"]
