
(function(){"use strict";
var D=JSON.parse(document.getElementById("data").textContent),W=D.texts,q=function(s,e){return(e||document).querySelector(s)},
all=function(s,e){return Array.prototype.slice.call((e||document).querySelectorAll(s))};
function css(n){return getComputedStyle(document.documentElement).getPropertyValue(n).trim()}

/* Language. */
var lang="en",button=q("#lang"),head=q("#headline"),english=head.textContent;
function speak(to){lang=to;document.documentElement.lang=to==="zh"?"zh-CN":"en";
all("[data-t]").forEach(function(e){e.textContent=W[to][e.getAttribute("data-t")]});
head.textContent=to==="zh"&&head.dataset.zh||english;button.textContent=to==="zh"?"English":"中文"}
button.hidden=false;button.onclick=function(){speak(lang==="en"?"zh":"en")};
if((navigator.language||"").slice(0,2)==="zh")speak("zh");

/* The grid: keys walk it, hosts unfold. */
var cells=all(".cell"),out=q("#unfolded");
function show(c){var t=q("title",c),s=t?t.textContent:"",members=c.dataset.r;
if(members){var list=members.split(",").map(function(r){
return"rank "+D.rank[r]+(D.cost[r]===null?"":": "+D.cost[r]+" ms")});s+=" — "+list.join(", ")}
if(out)out.textContent=s}
cells.forEach(function(c,i){c.setAttribute("tabindex",i?"-1":"0");c.setAttribute("role","img");
var t=q("title",c);if(t)c.setAttribute("aria-label",t.textContent);
c.addEventListener("click",function(){show(c);c.focus()});c.addEventListener("focus",function(){show(c)});
c.addEventListener("keydown",function(e){var k=e.key,b=q("rect",c),x=+b.getAttribute("x"),y=+b.getAttribute("y"),best=null,far=1/0;
if(!/^Arrow/.test(k))return;cells.forEach(function(o){var r=q("rect",o),dx=r.getAttribute("x")-x,dy=r.getAttribute("y")-y,
ok=k==="ArrowRight"?dx>.1:k==="ArrowLeft"?dx<-.1:k==="ArrowDown"?dy>.1:dy<-.1,side=/Left|Right/.test(k)?Math.abs(dy):Math.abs(dx),
d=Math.abs(dx)+Math.abs(dy)+8*side;if(ok&&d<far){far=d;best=o}});
if(best){e.preventDefault();c.setAttribute("tabindex","-1");best.setAttribute("tabindex","0");best.focus()}})});

/* Tables sort by a click. */
all("#ranks th").forEach(function(h,i){h.className+=" sort";h.onclick=function(){var b=q("#ranks tbody"),up=h.dataset.up==="1";h.dataset.up=up?"":"1";
all("tr",b).map(function(r){var t=r.cells[i].textContent,v=parseFloat(t);return[isNaN(v)?(t==="–"?-1/0:t):v,r]}).sort(function(a,c){
var d=typeof a[0]==="number"&&typeof c[0]==="number"?a[0]-c[0]:String(a[0]).localeCompare(String(c[0]));return up?d:-d})
.forEach(function(p){b.appendChild(p[1])})}});

/* The raster. */
var canvas=q("#canvas");
function draw(bytes){var n=D.rank.length,m=D.columns,h=Math.max(1,Math.min(14,Math.floor(360/n))),pad=n<=24?64:0,
wide=canvas.clientWidth||1180,dpr=window.devicePixelRatio||1,high=Math.min(720,Math.max(n*h,60)),g=canvas.getContext("2d"),
off=document.createElement("canvas"),o,img,k=[0,1,2,3,4].map(function(i){return rgb(css("--k"+i))}),hit={};
D.hit.forEach(function(r){hit[r]=1});
/* More ranks than lines: a line holds the greatest of its ranks. */
var lines=Math.min(n,Math.floor(high*dpr)),i,c;off.width=m;off.height=lines;o=off.getContext("2d");img=o.createImageData(m,lines);
function at(r,col){var p=r*m+col,b=bytes[p>>1];return p&1?b>>4:b&15}
for(i=0;i<lines;i++){var a=Math.floor(i*n/lines),z=Math.max(a+1,Math.floor((i+1)*n/lines));
for(c=0;c<m;c++){var v=-1;for(var r=a;r<z;r++){var w=at(r,c);if(w<5&&w>v)v=w}
var p=(i*m+c)*4,col=v<0?[0,0,0,0]:k[v].concat(255);img.data[p]=col[0];img.data[p+1]=col[1];img.data[p+2]=col[2];img.data[p+3]=col[3]}}
o.putImageData(img,0,0);
canvas.style.height=high+"px";canvas.width=Math.round(wide*dpr);canvas.height=Math.round(high*dpr);g.scale(dpr,dpr);g.imageSmoothingEnabled=false;
g.drawImage(off,pad,0,wide-pad,high);
g.fillStyle=css("--ink");g.font="12px system-ui,sans-serif";g.textBaseline="middle";var last=-99;
D.rank.forEach(function(x,r){var y=(r+.5)*high/n;if(pad){g.fillStyle=css(hit[r]?"--hot":"--soft");g.fillText("rank "+x,0,y)}
else if(hit[r]){g.fillStyle=css("--hot");g.fillRect(0,y-Math.max(1,high/n/2),wide,1);if(y-last>13){last=y;g.fillText("rank "+x,4,y<12?y+9:y-8-Math.max(0,high/n/2-1))}}});
canvas.dataset.drawn="1";
canvas.onmousemove=function(e){var b=canvas.getBoundingClientRect(),r=Math.floor((e.clientY-b.top)/b.height*n),
c=Math.floor((e.clientX-b.left-pad)/(b.width-pad)*m),v=r>=0&&r<n&&c>=0&&c<m?at(r,c):15,names=["< 3 %","3–10 %","10–20 %","20–50 %","≥ 50 %"];
q("#hover").textContent=v<5?"rank "+D.rank[r]+": "+names[v]:""};
canvas.onmouseleave=function(){q("#hover").textContent=""}}
function rgb(s){var d=/^#(..)(..)(..)$/.exec(s);return d?[1,2,3].map(function(i){return parseInt(d[i],16)}):[128,128,128]}
if(canvas&&D.raster){var raw=Uint8Array.from(atob(D.raster),function(c){return c.charCodeAt(0)}),kept;
if(window.DecompressionStream){new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer().then(function(b){
kept=new Uint8Array(b);draw(kept)});
window.addEventListener("resize",function(){if(kept)draw(kept)});
if(window.matchMedia)matchMedia("(prefers-color-scheme:dark)").addEventListener("change",function(){if(kept)draw(kept)})}
else canvas.remove()}
})();
