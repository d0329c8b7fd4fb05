# The image of a release: as ../Dockerfile makes it, from the program that was
# released. The build's context has it as linux/ARCH/ycbot.
FROM debian:bookworm-slim
ARG TARGETPLATFORM
RUN apt-get update \
 && apt-get install -y --no-install-recommends bash bubblewrap ca-certificates git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --create-home --shell /usr/sbin/nologin ycbot \
 && install -d -o ycbot -g ycbot -m 0700 /data
COPY $TARGETPLATFORM/ycbot /usr/local/bin/ycbot
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
